package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.RateLimited;
import jakarta.servlet.Filter;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.context.annotation.Configurations;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.mock.web.MockServletContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.GenericWebApplicationContext;

/** Code that is generated ahead of time follows the configuration, on the plain JVM. */
@CompileWithForkedClassLoader
@Tag("slow")
class AotTest {

    @RestController
    static class Pages {
        @GetMapping("/page")
        @RateLimited("2/hour")
        String page() {
            return "page";
        }
    }

    private static final Map<String, String> POLICY = Map.of(
            "ratelimit.policies.api.limit", "1/hour",
            "ratelimit.policies.api.key", "#request.getHeader('X-Key')",
            "ratelimit.policies.api.missing-key", "skip");

    @Test
    void generatedCode_limits() {
        runGenerated(Map.of(), context -> {
            assertThat(status(context, "/page", "a")).isEqualTo(200);
            assertThat(status(context, "/page", "a")).isEqualTo(429);
            assertThat(status(context, "/page", "b")).isEqualTo(200);
            assertThat(status(context, "/page", "c")).isEqualTo(429);
        });
    }

    @Test
    @Tag("nightly")
    void generatedCode_enabledIsDecidedAtRunTime() {
        runGenerated(Map.of("ratelimit.enabled", "false"), context -> {
            for (int i = 0; i < 5; i++) {
                assertThat(status(context, "/page", "a")).isEqualTo(200);
            }
        });
    }

    @Test
    @Tag("nightly")
    void generatedCode_builtDisabled_limitsWhatIsEnabledAtRunTime() {
        runGenerated(Map.of("ratelimit.enabled", "false"), Map.of("ratelimit.enabled", "true"), context -> {
            assertThat(status(context, "/page", "a")).isEqualTo(200);
            assertThat(status(context, "/page", "a")).isEqualTo(429);
        });
    }

    @Test
    void generatedCode_storeOnRedis_startsWithoutAServer() {
        Map<String, String> redis = Map.of("ratelimit.store.type", "redis", "spring.data.redis.port", "1");

        runGenerated(redis, redis, context -> {
            assertThat(context.getBean(RateLimitStore.class)).isInstanceOf(RedisStore.class);
            assertThat(status(context, "/page", "a")).isEqualTo(200);
            assertThat(status(context, "/page", "a")).isEqualTo(429);
        });
    }

    private static void runGenerated(Map<String, String> properties, Consumer<GenericApplicationContext> test) {
        runGenerated(Map.of(), properties, test);
    }

    private static void runGenerated(
            Map<String, String> before, Map<String, String> properties, Consumer<GenericApplicationContext> test) {
        var context = OnBoot.context();
        context.setServletContext(new MockServletContext());
        TestPropertyValues.of(POLICY).and(before).applyTo(context);
        context.register(Configurations.getClasses(OnBoot.webMvc(OnBoot.REDIS, RateLimitAutoConfiguration.class)));
        context.register(Pages.class);
        TestGenerationContext generated = new TestGenerationContext();
        System.setProperty(AbstractAotProcessor.AOT_PROCESSING, "true");
        ClassName initializer;
        try {
            initializer = new ApplicationContextAotGenerator().processAheadOfTime(context, generated);
        } finally {
            System.clearProperty(AbstractAotProcessor.AOT_PROCESSING);
        }
        generated.writeGeneratedContent();
        TestCompiler.forSystem().with(generated).compile(compiled -> {
            GenericWebApplicationContext fresh = new GenericWebApplicationContext(new MockServletContext());
            TestPropertyValues.of(POLICY).and(properties).applyTo(fresh);
            @SuppressWarnings("unchecked")
            ApplicationContextInitializer<GenericApplicationContext> code =
                    (ApplicationContextInitializer<GenericApplicationContext>)
                            compiled.getInstance(ApplicationContextInitializer.class, initializer.canonicalName());
            code.initialize(fresh);
            fresh.refresh();
            try (fresh) {
                test.accept(fresh);
            }
        });
    }

    private static int status(GenericApplicationContext context, String path, String key) {
        Filter filter = Objects.requireNonNull(
                context.getBean(RateLimitFilterConfiguration.FILTER, FilterRegistrationBean.class)
                        .getFilter());
        MockHttpServletRequest request = new MockHttpServletRequest("GET", path);
        request.addHeader("X-Key", key);
        MockHttpServletResponse response = new MockHttpServletResponse();
        try {
            filter.doFilter(request, response, new MockFilterChain());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        return response.getStatus();
    }
}
