package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.DispatcherServlet;

/** What is hardly meant is told at start-up, where it is no mistake. */
@ExtendWith(OutputCaptureExtension.class)
class StartupReportTest {

    private static final AutoConfigurations AUTO = AutoConfigurations.of(
            DispatcherServletAutoConfiguration.class,
            WebMvcAutoConfiguration.class,
            RateLimitAutoConfiguration.class,
            RateLimitWithoutServletAutoConfiguration.class);

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner().withConfiguration(AUTO);

    @RestController
    static class Pages {

        @GetMapping("/")
        @RateLimited("1/second")
        String page() {
            return helper();
        }

        @RateLimited("1/second")
        private String helper() {
            return "";
        }
    }

    @Service
    static class Mails {

        @RateLimited("1/second")
        public final void send() {}
    }

    @Service
    @RateLimitExempt
    static class Exempt {}

    @Test
    void memory_ofAllPolicies_isTold(CapturedOutput output) {
        runner.withPropertyValues(
                        "ratelimit.policies.a.limit=5/second",
                        "ratelimit.policies.a.key=ip",
                        "ratelimit.policies.b.limit=5/second",
                        "ratelimit.policies.b.algorithm=sliding-log",
                        "ratelimit.policies.b.max-keys=1000")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .containsPattern(
                        "Rate limits take at most 2[0-9] MB of memory, when all their max-keys are used; sliding"
                                + " logs 8 bytes more");
    }

    @Test
    @DisplayName("F7 annotations on methods to which no request is dispatched are warned of, by name")
    void annotationsWithoutEffect_areWarnedOf(CapturedOutput output) {
        runner.withUserConfiguration(Pages.class, Mails.class, Exempt.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains("WARN")
                .contains("The annotation on Pages.helper() has no effect")
                .contains("The annotation on Mails.send() has no effect")
                .contains("The annotation on Exempt has no effect")
                .doesNotContain("Pages.page() has no effect");
    }

    @Test
    @DisplayName("F7 also where there is nothing else to limit")
    void annotationWithoutEffect_alone_isWarnedOf(CapturedOutput output) {
        runner.withUserConfiguration(Mails.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains("The annotation on Mails.send() has no effect")
                .contains("No rate limits");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimit.trusted-proxies=0.0.0.0/0 | 0.0.0.0/0 is everybody, so anyone can choose their client address",
                "ratelimit.trusted-proxies=::/0 | ::/0 is everybody, so anyone can choose their client address",
                "ratelimit.trusted-proxies=10.0.0.0/8 | say in ratelimit.forwarded-header which one yours write",
                "server.forward-headers-strategy=framework | Spring believes X-Forwarded-For of anybody",
                "server.forward-headers-strategy=native | The container believes X-Forwarded-For before the limits see the request",
                "spring.main.cloud-platform=kubernetes | The container believes X-Forwarded-For before the limits see the request",
                "ratelimit.policies.api.permits=0 | it limits nothing",
                "ratelimit.policies.api.match.annotated=true | no @RateLimited names it: it limits nothing",
                "ratelimit.policies.api.match.except-paths=/** | which leaves no path: it limits nothing"
            })
    @DisplayName("F11 what is hardly meant is warned of")
    void hardlyMeant_isWarnedOf(String property, String warning, CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies.api.limit=1/second", property)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("WARN").contains(warning);
    }

    @Test
    void pathsThatCannotMatch_areWarnedOf(CapturedOutput output) {
        runner.withPropertyValues(
                        "ratelimit.policies.a.limit=1/second",
                        "ratelimit.policies.a.match.paths=/ctx/orders/**",
                        "server.servlet.context-path=/ctx")
                .run(context -> assertThat(context).hasNotFailed());
        runner.withPropertyValues(
                        "ratelimit.policies.b.limit=1/second",
                        "ratelimit.policies.b.match.paths=/api/orders, /api/files/**",
                        "ratelimit.policies.b.match.except-paths=/api/**")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains("'a'")
                .contains("but paths are below the context path /ctx")
                .contains("'b'")
                .contains("which leaves no path");
    }

    @Test
    void explicitProxies_areNotWarnedOf(CapturedOutput output) {
        runner.withPropertyValues(
                        "ratelimit.policies.api.limit=1/second",
                        "ratelimit.trusted-proxies=10.0.0.5/8",
                        "ratelimit.forwarded-header=x-forwarded-for")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains("Rate limits take for a client's address the peer's, or behind 10.0.0.0/8 the client's of"
                        + " X-Forwarded-For")
                .doesNotContain("WARN");
    }

    @Test
    @DisplayName("F14 policies of a WebFlux application stop its start: they would limit nothing")
    void webFlux_withPolicies_fails(CapturedOutput output) {
        ReactiveWebApplicationContextRunner reactive =
                new ReactiveWebApplicationContextRunner().withConfiguration(AUTO);

        reactive.withPropertyValues("ratelimit.policies.api.limit=1/second")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("this is a WebFlux application, and policies are for Spring MVC"));
        reactive.run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("No rate limits: this is a WebFlux application");
    }

    @Test
    @DisplayName("F14 no web application, or one without Spring MVC, is told that nothing is limited")
    void noSpringMvc_isTold(CapturedOutput output) {
        String policy = "ratelimit.policies.api.limit=1/second";
        new ApplicationContextRunner()
                .withConfiguration(AUTO)
                .withPropertyValues(policy)
                .run(context -> assertThat(context).hasNotFailed());
        new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withPropertyValues(policy)
                .withClassLoader(new FilteredClassLoader(DispatcherServlet.class))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("policies need Spring MVC, which is missing"));

        assertThat(output).contains("No rate limits: this is no web application");
    }

    @Test
    void disabled_isTold_andLeavesTheBeans(CapturedOutput output) {
        runner.withPropertyValues("ratelimit.policies.api.limit=1/second", "ratelimit.enabled=false")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(RateLimiter.class)
                        .doesNotHaveBean("rateLimitFilter"));

        assertThat(output).contains("No rate limits: ratelimit.enabled is false");
    }
}
