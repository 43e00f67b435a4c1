package dev.ratelimit.spring.rules.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.expression.ExpressionVariables;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.env.PropertySourceInfo;
import org.springframework.core.io.support.SpringFactoriesLoader;

class RateLimitRuntimeHintsTest {

    @Test
    void hints_keepWhatIsReflectedUpon() throws NoSuchMethodException {
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
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethodInvocation(PolicyProperties.Plan.class.getMethod("of", String.class)))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethodInvocation(ExpressionVariables.Request.class.getMethod("getHeader", String.class)))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethodInvocation(PropertySourceInfo.class.getMethod("getPrefix")))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.resource().forResource("dev/ratelimit/redis/token-bucket.lua"))
                .accepts(hints);
    }
}
