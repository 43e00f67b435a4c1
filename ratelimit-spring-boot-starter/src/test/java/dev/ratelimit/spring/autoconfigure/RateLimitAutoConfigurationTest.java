package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.web.RateLimitFilter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import jakarta.servlet.DispatcherType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Tests for {@link RateLimitAutoConfiguration}. */
@ExtendWith(OutputCaptureExtension.class)
class RateLimitAutoConfigurationTest {

    private static final AutoConfigurations AUTO = AutoConfigurations.of(
            DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class, RateLimitAutoConfiguration.class);

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner().withConfiguration(AUTO);

    @RestController
    static class Annotated {
        @GetMapping("/")
        @RateLimited("1/second")
        String get() {
            return "";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnStore {
        @Bean
        RateLimitStore ownStore() {
            return InMemoryStore.create();
        }
    }

    @Test
    void policy_registersTheFilter_andSaysSo(CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies.api.limit=100/minute", "ratelimit.policies.api.key=ip")
                .run(context -> {
                    FilterRegistrationBean<?> registration = context.getBean(FilterRegistrationBean.class);
                    assertThat(registration.getFilter()).isInstanceOf(RateLimitFilter.class);
                    assertThat(registration.getOrder()).isEqualTo(-90);
                    assertThat(registration.determineDispatcherTypes()).containsExactly(DispatcherType.REQUEST);
                    assertThat(context).hasSingleBean(RateLimiter.class).hasSingleBean(InMemoryStore.class);
                });

        assertThat(output).contains("Rate limit 'api': 100/minute (token-bucket) by ip, on all paths");
        assertThat(output).doesNotContain("No rate limits");
    }

    @Test
    void nothingConfigured_registersNoFilter_andSaysSo(CapturedOutput output) {
        runner.run(context -> assertThat(context)
                .doesNotHaveBean(FilterRegistrationBean.class)
                .hasSingleBean(RateLimiter.class));

        assertThat(output).contains("No rate limits: there is no policy under ratelimit.policies and no @RateLimited");
    }

    @Test
    void annotationAlone_registersTheFilter(CapturedOutput output) {
        runner.withUserConfiguration(Annotated.class)
                .run(context -> assertThat(context).hasSingleBean(FilterRegistrationBean.class));

        assertThat(output).contains("Rate limit 'Annotated.get': 1/second (token-bucket) by user, where annotated");
    }

    @Test
    void policyThatNoAnnotationNames_warns(CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies.x.limit=1/second", "ratelimit.policies.x.match.annotated=true")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("WARN").contains("no @RateLimited names it: it limits nothing");
    }

    @Test
    void ownStore_replacesOurs() {
        runner.withUserConfiguration(OwnStore.class).run(context -> {
            assertThat(context).hasSingleBean(RateLimitStore.class);
            assertThat(context.getBean(RateLimitStore.class)).isSameAs(context.getBean("ownStore"));
        });
    }

    @Test
    void securityFilterElsewhere_filterFollowsIt() {
        runner.withPropertyValues("ratelimit.policies.api.limit=1/s", "spring.security.filter.order=5")
                .run(context -> assertThat(
                                context.getBean(FilterRegistrationBean.class).getOrder())
                        .isEqualTo(15));
    }

    @Test
    void micrometerMissing_works() {
        runner.withPropertyValues("ratelimit.policies.api.limit=100/minute")
                .withClassLoader(new FilteredClassLoader(MeterRegistry.class))
                .run(context -> assertThat(context)
                        .hasSingleBean(FilterRegistrationBean.class)
                        .doesNotHaveBean(StoreDecorator.class));
    }

    @Test
    void micrometerThere_decoratesTheStore() {
        runner.withPropertyValues("ratelimit.policies.api.limit=100/minute")
                .withBean(SimpleMeterRegistry.class)
                .run(context -> assertThat(context.getBean(MeterRegistry.class)
                                .find("ratelimit.decision")
                                .timer())
                        .isNotNull());
    }

    @Test
    void noWebApplication_hasNoBeans() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .run(context -> assertThat(context).doesNotHaveBean(RateLimitStore.class));
    }
}
