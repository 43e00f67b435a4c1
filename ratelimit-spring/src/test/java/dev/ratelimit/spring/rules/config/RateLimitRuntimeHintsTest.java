package dev.ratelimit.spring.rules.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.expression.ExpressionVariables;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeHint;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.support.SpringFactoriesLoader;

class RateLimitRuntimeHintsTest {

    /** The predicate for it has another name in each version of Spring Framework. */
    private static boolean mayInvoke(RuntimeHints hints, Class<?> type, String method) {
        TypeHint hint = Objects.requireNonNull(hints.reflection().getTypeHint(type));
        return hint.getMemberCategories().contains(MemberCategory.INVOKE_PUBLIC_METHODS)
                || hint.methods()
                        .anyMatch(each -> each.getName().equals(method) && each.getMode() == ExecutableMode.INVOKE);
    }

    @Test
    void hints_keepWhatIsReflectedUpon() {
        RuntimeHints hints = new RuntimeHints();
        List<RuntimeHintsRegistrar> registered = SpringFactoriesLoader.forResourceLocation(
                        "META-INF/spring/aot.factories", getClass().getClassLoader())
                .load(RuntimeHintsRegistrar.class);

        registered.forEach(
                registrar -> registrar.registerHints(hints, getClass().getClassLoader()));

        for (Class<?> annotation : new Class<?>[] {RateLimited.class, RateLimited.All.class, RateLimitExempt.class}) {
            assertThat(RuntimeHintsPredicates.reflection().onType(annotation)).accepts(hints);
            assertThat(RuntimeHintsPredicates.proxies().forInterfaces(annotation))
                    .accepts(hints);
        }
        assertThat(mayInvoke(hints, PolicyProperties.Plan.class, "of")).isTrue();
        assertThat(mayInvoke(hints, PolicyProperties.class, "limit")).isTrue();
        assertThat(mayInvoke(hints, PolicyProperties.Plan.class, "limit")).isTrue();
        assertThat(mayInvoke(hints, ExpressionVariables.Request.class, "getHeader"))
                .isTrue();
        assertThat(RuntimeHintsPredicates.resource().forResource("dev/ratelimit/redis/token-bucket.lua"))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.resource().forResource("dev/ratelimit/jdbc/schema-h2.sql"))
                .accepts(hints);
    }
}
