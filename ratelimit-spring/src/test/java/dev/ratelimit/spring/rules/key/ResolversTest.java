package dev.ratelimit.spring.rules.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

/** Beans that resolve keys and plans, asked here or before by the web stack. */
class ResolversTest {

    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    private final Resolvers resolvers = new Resolvers(beans);

    private @Nullable String tenantOf(WebRequest request) {
        return resolvers.key("tenants").valueOf(RecordedRequest.context(request, false));
    }

    @Test
    void valueOf_valueKnownBefore_doesNotAskTheBean() {
        beans.registerSingleton("tenants", (KeyResolver) request -> "asked");
        beans.registerSingleton("tariffs", (PlanResolver) request -> "asked");

        assertThat(tenantOf(new RecordedRequest())).isEqualTo("asked");
        assertThat(tenantOf(new RecordedRequest().resolved("tenants", "known"))).isEqualTo("known");
        assertThat(tenantOf(new RecordedRequest().resolved("tenants", null))).isNull();
        assertThat(tenantOf(new RecordedRequest().resolved("others", "known"))).isEqualTo("asked");
        assertThat(resolvers
                        .onlyPlan()
                        .valueOf(RecordedRequest.context(new RecordedRequest().resolved("tariffs", "pro"), false)))
                .isEqualTo("pro");
    }

    /** As a web stack may define it: its values come before, so it is never asked. */
    private interface LaterKeyResolver extends KeyResolver {

        @Override
        default @Nullable String resolve(WebRequest request) {
            throw new IllegalStateException("it was to be asked before");
        }
    }

    @Test
    void key_resolverOfTheWebStack_isOneOfThem() {
        beans.registerSingleton("tenants", new LaterKeyResolver() {});

        assertThat(tenantOf(new RecordedRequest().resolved("tenants", "known"))).isEqualTo("known");
    }

    @Test
    void key_unknownBean_isAMistake() {
        beans.registerSingleton("tenants", (KeyResolver) request -> null);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolvers.key("owners"))
                .withMessage("there is no bean 'owners' of type KeyResolver; write tenants");
    }
}
