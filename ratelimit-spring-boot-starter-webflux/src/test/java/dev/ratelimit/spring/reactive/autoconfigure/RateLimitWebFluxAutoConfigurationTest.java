package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.boot.autoconfigure.RateLimitWithoutStackAutoConfiguration;
import dev.ratelimit.spring.reactive.filter.RateLimitWebFilter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.DispatcherHandler;
import reactor.core.publisher.Mono;

@ExtendWith(OutputCaptureExtension.class)
class RateLimitWebFluxAutoConfigurationTest {

    private static final String[] POLICY = {"ratelimit.policies.a.limit=1/minute"};

    private final ReactiveWebApplicationContextRunner runner = new ReactiveWebApplicationContextRunner()
            .withConfiguration(OnBoot.webFlux(
                    RateLimitWebFluxAutoConfiguration.class, RateLimitWithoutStackAutoConfiguration.class));

    @Configuration(proxyBeanMethods = false)
    static class OwnStore {

        @Bean
        RateLimitStore own() {
            return InMemoryStore.create();
        }
    }

    @Controller
    static class Unhandled {

        @RateLimited("1/minute")
        public void unhandled() {}
    }

    @RestController
    static class AtOnce {

        @RateLimited(value = "1/minute", key = "#name")
        @GetMapping("/at-once")
        public String atOnce(String name) {
            return name;
        }
    }

    @RestController
    static class Later {

        @RateLimited(value = "1/minute", key = "#name")
        @GetMapping("/later")
        public Mono<String> later(String name) {
            return Mono.just(name);
        }
    }

    @Test
    void application_withoutPolicies_hasALimiterAndNoFilter() {
        runner.run(context -> assertThat(context)
                .hasNotFailed()
                .hasSingleBean(RateLimiter.class)
                .doesNotHaveBean(RateLimitWebFilter.class));
    }

    @Test
    void policy_bringsTheFilter() {
        runner.withPropertyValues(POLICY).run(context -> assertThat(context).hasSingleBean(RateLimitWebFilter.class));
    }

    @Test
    void switchedOff_bringsNoFilter() {
        runner.withPropertyValues(POLICY)
                .withPropertyValues("ratelimit.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(RateLimitWebFilter.class));
    }

    @Test
    void ownStore_replacesTheOneInMemory() {
        runner.withPropertyValues(POLICY)
                .withUserConfiguration(OwnStore.class)
                .run(context ->
                        assertThat(context).hasSingleBean(RateLimitStore.class).hasBean("own"));
    }

    @Test
    void invalidProperty_failsTheStart() {
        runner.withPropertyValues("ratelimit.policies.a.limit=often")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(RateLimitConfigurationException.class));
    }

    @Test
    void annotation_whereNothingHandlesRequests_failsTheStart() {
        runner.withUserConfiguration(Unhandled.class)
                .run(context -> assertThat(context).getFailure().hasMessageContaining("not a request handler"));
    }

    @Test
    void limitOfArguments_needsAMono() {
        runner.withUserConfiguration(AtOnce.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("AtOnce.atOnce()")
                        .hasMessageContaining("returns a Mono or a Flux"));
        runner.withUserConfiguration(Later.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void webFluxMissing_withPolicies_failsTheStart() {
        runner.withPropertyValues(POLICY)
                .withClassLoader(new FilteredClassLoader(DispatcherHandler.class))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("policies need a web framework"));
    }

    @Test
    void noWebApplication_withPolicies_warns(CapturedOutput output) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitWithoutStackAutoConfiguration.class))
                .withPropertyValues(POLICY)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("this is not a web application");
    }

    @Test
    void forwardedHeaders_withoutProxies_warn(CapturedOutput output) {
        runner.withPropertyValues(POLICY)
                .withPropertyValues("server.forward-headers-strategy=native")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("The server applies X-Forwarded-For from any address");
    }
}
