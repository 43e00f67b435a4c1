package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.boot.spi.StoreDecorator;
import dev.ratelimit.spring.servlet.filter.RateLimitFilter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import jakarta.servlet.DispatcherType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Tests for {@link RateLimitAutoConfiguration}. */
@ExtendWith(OutputCaptureExtension.class)
class RateLimitAutoConfigurationTest {

    private static final AutoConfigurations AUTO = OnBoot.webMvc(RateLimitAutoConfiguration.class);

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
                    FilterRegistrationBean<?> registration =
                            context.getBean(RateLimitFilterConfiguration.FILTER, FilterRegistrationBean.class);
                    assertThat(registration.getFilter()).isInstanceOf(RateLimitFilter.class);
                    assertThat(registration.getOrder()).isEqualTo(-90);
                    assertThat(registration.determineDispatcherTypes()).containsExactly(DispatcherType.REQUEST);
                    assertThat(context).hasSingleBean(RateLimiter.class).hasSingleBean(InMemoryStore.class);
                });

        assertThat(output).contains("Rate limit 'api': 100/minute (token-bucket) by ip, on all paths");
        assertThat(output).doesNotContain("No rate limits");
    }

    @ParameterizedTest
    @CsvSource({"true, true", "on, true", "YES, true", "1, true", "false, false", "off, false", "no, false", "0, false"
    })
    void enabled_asSpringBootReadsBooleans_decides(String written, boolean filter) {
        runner.withUserConfiguration(Annotated.class)
                .withPropertyValues("ratelimit.enabled=" + written)
                .run(context -> assertThat(context.containsBean(RateLimitFilterConfiguration.FILTER))
                        .isEqualTo(filter));
        runner.withUserConfiguration(Annotated.class)
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource(
                                "test-systemEnvironment", Map.of("RATELIMIT_ENABLED", written))))
                .run(context -> assertThat(context.containsBean(RateLimitFilterConfiguration.FILTER))
                        .isEqualTo(filter));
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "REDIS", " Redis "})
    void storeType_inAnySpelling_isRedis(String written) {
        runner.withPropertyValues("ratelimit.store.type=" + written)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("redis finds no bean of type RedisConnectionFactory"));
    }

    /** Names that an application may give its beans if it uses rate limits by hand. */
    @Configuration(proxyBeanMethods = false)
    static class SameNames {

        @Bean
        String rateLimitFilter() {
            return "";
        }

        @Bean
        String rateLimitRules() {
            return "";
        }

        @Bean
        String rateLimiter() {
            return "";
        }

        @Bean
        String rateLimitStore() {
            return "";
        }
    }

    @Test
    void beansOfTheApplication_withLikelyNames_doNotClash() {
        runner.withUserConfiguration(SameNames.class)
                .withPropertyValues("ratelimit.policies.api.limit=1/second")
                .run(context -> assertThat(context).hasBean(RateLimitFilterConfiguration.FILTER));
    }

    @Test
    void beansOfTheStarter_haveNamesThatNobodyElseUses() {
        List<String> names = new ArrayList<>();
        runner.withPropertyValues("ratelimit.policies.api.limit=1/second")
                .withBean(SimpleMeterRegistry.class)
                .run(context -> Stream.of(context.getBeanDefinitionNames())
                        .filter(name -> context.getBeanFactory()
                                .getBeanDefinition(name)
                                .toString()
                                .contains("dev.ratelimit."))
                        .forEach(names::add));

        assertThat(names).isNotEmpty().allMatch(name -> name.contains("dev.ratelimit."));
    }

    @Test
    void policy_ofOnlyALimit_isRead(CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies.login=5/minute")
                .run(context -> assertThat(context).hasBean(RateLimitFilterConfiguration.FILTER));

        assertThat(output).contains("Rate limit 'login': 5/minute (token-bucket)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"free", "count", "match", "mode", "key"})
    void policy_namedLikeAProperty_isRead(String name, CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies." + name + ".limit=5/minute")
                .run(context -> assertThat(context).hasBean(RateLimitFilterConfiguration.FILTER));

        assertThat(output).contains("Rate limit '" + name + "': 5/minute (token-bucket)");
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
                .run(context -> assertThat(context).hasBean(RateLimitFilterConfiguration.FILTER));

        assertThat(output).contains("Rate limit 'Annotated.get': 1/second (token-bucket) by user, where annotated");
    }

    @Test
    void policyThatNoAnnotationNames_warns(CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies.x.limit=1/second", "ratelimit.policies.x.match.annotated=true")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("WARN").contains("no @RateLimited names it, so it limits nothing");
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
                                context.getBean(RateLimitFilterConfiguration.FILTER, FilterRegistrationBean.class)
                                        .getOrder())
                        .isEqualTo(15));
    }

    @Test
    void micrometerMissing_works() {
        runner.withPropertyValues("ratelimit.policies.api.limit=100/minute")
                .withClassLoader(new FilteredClassLoader(MeterRegistry.class))
                .run(context -> assertThat(context)
                        .hasBean(RateLimitFilterConfiguration.FILTER)
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
