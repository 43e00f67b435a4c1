package dev.ratelimit.spring.rules.config;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimited;
import java.lang.reflect.Method;
import java.util.Map;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.mock.env.MockEnvironment;

/** A mistake in an annotation is reported with the class and the method. */
class AnnotationMistakesTest {

    private static final String LOGIN = "ratelimit.policies.login.limit=9/s";

    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

    static class Unknown {
        @RateLimited(policy = "x")
        void create() {}
    }

    static class Neither {
        @RateLimited
        void create() {}
    }

    static class Both {
        @RateLimited(value = "5/minute", policy = "login")
        void create() {}
    }

    static class Mixed {
        @RateLimited(policy = "login", key = "ip")
        void create() {}
    }

    static class Garbage {
        @RateLimited("5 a minute")
        void create() {}
    }

    static class Costless {
        @RateLimited(value = "5/minute", permits = 0)
        void create() {}
    }

    static class TooDear {
        @RateLimited(value = "5/minute", permits = 6)
        void create() {}
    }

    static class Free {
        @RateLimited(policy = "work", permits = 50)
        void create() {}
    }

    static class DearTogether {
        @RateLimited(policy = "work", permits = 6)
        @RateLimited(policy = "work", permits = 5)
        void create() {}
    }

    static class SameName {
        @RateLimited(value = "5/minute", name = "one")
        void a() {}

        @RateLimited(value = "5/minute", name = "one")
        void b() {}
    }

    static class Quoted {
        @RateLimited(value = "5/minute", name = "a\"b")
        void create() {}
    }

    static class Unset {
        @RateLimited("${unset.limit}")
        void create() {}
    }

    static class NamedPolicy {
        @RateLimited(policy = "login", name = "other")
        void create() {}
    }

    /** Reads the annotations of a controller's methods, beside these properties. */
    private void read(Class<?> controller, String... properties) {
        MockEnvironment environment = new MockEnvironment();
        for (String property : properties) {
            String[] parts = property.split("=", 2);
            environment.setProperty(parts[0], parts[1]);
        }
        ConfigurationPropertySources.attach(environment);
        RateLimitProperties bound = Binder.get(environment).bindOrCreate("ratelimit", RateLimitProperties.class);
        MethodRules rules = new MethodRules(new PolicyRules(bound, Map.of(), Map.of(), beans, limit -> {})
                .annotated(environment::resolveRequiredPlaceholders));
        for (Method method : controller.getDeclaredMethods()) {
            rules.addHandler(controller, method);
        }
    }

    private AbstractThrowableAssert<?, ?> assertFails(Class<?> controller, String... properties) {
        return assertThatThrownBy(() -> read(controller, properties))
                .isInstanceOf(RateLimitConfigurationException.class);
    }

    @Test
    void annotation_priceBeyondAPlanOrAnOverride_isAMistake() {
        assertFails(
                        Free.class,
                        "ratelimit.policies.work.limit=100/minute",
                        "ratelimit.policies.work.key=user",
                        "ratelimit.policies.work.overrides.alice=20/minute")
                .hasMessageContaining(
                        "@RateLimited on Free.create(): under [20/minute (token-bucket)], a plan or an override, permits"
                                + " must be from 0 to 20");
        beans.registerSingleton("plans", (PlanResolver) request -> "free");
        assertFails(
                        Free.class,
                        "ratelimit.policies.work.limit=100/minute",
                        "ratelimit.policies.work.plans.free=10/minute")
                .hasMessageContaining(
                        "@RateLimited on Free.create(): under [10/minute (token-bucket)], a plan or an override, permits"
                                + " must be from 0 to 10, the maximum that the limit admits at once, but was 50");
    }

    @Test
    void annotations_pricesThatNoRequestCanPayTogether_areAMistake() {
        String together =
                "@RateLimited on DearTogether.create(): the annotations here charge policy 'work' together, and ";

        assertFails(DearTogether.class, "ratelimit.policies.work=10/minute")
                .hasMessageContaining(together
                        + "permits must be from 0 to 10, the maximum that the limit admits at once, but was 11");
        beans.registerSingleton("plans", (PlanResolver) request -> "free");
        assertFails(
                        DearTogether.class,
                        "ratelimit.policies.work.limit=100/minute",
                        "ratelimit.policies.work.plans.free=9/minute")
                .hasMessageContaining(together
                        + "under [9/minute (token-bucket)], a plan or an override, permits must be from 0 to 9");
    }

    @Test
    void annotation_nameOrPlaceholderMistaken_isReported() {
        assertFails(SameName.class, LOGIN)
                .message()
                .containsPattern("@RateLimited on SameName[.][ab]\\(\\): another @RateLimited is also called 'one'");
        assertFails(SameName.class, "ratelimit.policies.one.limit=9/s")
                .message()
                .containsPattern(
                        "@RateLimited on SameName[.][ab]\\(\\): a policy of the configuration is also called 'one'");
        assertFails(Quoted.class, LOGIN)
                .hasMessageContaining(
                        "@RateLimited on Quoted.create(): name must be 1 to 100 printable ASCII characters");
        assertFails(Unset.class, LOGIN)
                .hasMessageContaining("@RateLimited on Unset.create(): Could not resolve placeholder 'unset.limit'");
        assertFails(NamedPolicy.class, LOGIN)
                .hasMessageContaining("@RateLimited on NamedPolicy.create(): policy 'login' has its own name");
    }

    @Test
    @DisplayName("F6 a mistake in an annotation is reported with class and method")
    void annotation_mistake_isReportedWithClassAndMethod() {
        assertFails(Unknown.class, LOGIN, "ratelimit.policies.api.limit=9/s")
                .hasMessageContaining("@RateLimited on Unknown.create(): names policy 'x', which does not exist");
        assertFails(Neither.class, LOGIN).hasMessageContaining("@RateLimited on Neither.create(): it needs a limit");
        assertFails(Both.class, LOGIN)
                .hasMessageContaining("@RateLimited on Both.create(): it has both a limit and the name of a policy");
        assertFails(Mixed.class, LOGIN)
                .hasMessageContaining(
                        "@RateLimited on Mixed.create(): policy 'login' has its own name, burst, algorithm and key");
        assertFails(Garbage.class, LOGIN)
                .hasMessageContaining("@RateLimited on Garbage.create(): '5 a minute' is not a limit");
        assertFails(TooDear.class, LOGIN)
                .hasMessageContaining("@RateLimited on TooDear.create(): permits must be from 0 to 5");
        assertFails(Costless.class, LOGIN)
                .hasMessageContaining("@RateLimited on Costless.create(): permits = 0 limits nothing");
    }
}
