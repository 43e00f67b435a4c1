package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Applications in which requests cannot wait. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
class WaitingMistakesTest {

    private static final String[] WAITS = {
        "ratelimit.policies.api.limit=1/hour", "ratelimit.policies.api.on-exceeded.action=wait"
    };

    /** A filter that is registered as filters are by default. */
    @Configuration(proxyBeanMethods = false)
    static class PlainFilter {
        @Bean
        Filter passwords() {
            return (request, response, chain) -> chain.doFilter(request, response);
        }
    }

    /** The same filter, before the rate limits. */
    @Configuration(proxyBeanMethods = false)
    static class EarlyFilter {
        @Bean
        FilterRegistrationBean<Filter> passwords() {
            FilterRegistrationBean<Filter> filter =
                    new FilterRegistrationBean<>((request, response, chain) -> chain.doFilter(request, response));
            filter.setOrder(-1000);
            return filter;
        }
    }

    /** A filter that does not support asynchronous requests. */
    @Configuration(proxyBeanMethods = false)
    static class SynchronousFilter {
        @Bean
        FilterRegistrationBean<Filter> old() {
            FilterRegistrationBean<Filter> filter =
                    new FilterRegistrationBean<>((request, response, chain) -> chain.doFilter(request, response));
            filter.setAsyncSupported(false);
            filter.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC);
            filter.setOrder(-1000);
            return filter;
        }
    }

    /** A handler whose limit depends on its argument. */
    @RestController
    static class ByArgument {

        @GetMapping("/by-name")
        @RateLimited(policy = "api")
        String byName(String name) {
            return name;
        }
    }

    @Test
    void filterThatWouldBeLeftOut_failsTheStart(CapturedOutput output) {
        assertThatThrownBy(() ->
                        RunningApp.start(List.of(PlainFilter.class), WAITS).close())
                .isInstanceOf(Exception.class);

        assertThat(output)
                .contains("ratelimit.policies.api.on-exceeded.action")
                .contains("requests that have waited would not reach the filter")
                .contains("Order it before the rate limits (below -90), or register it for DispatcherType.REQUEST and");
    }

    @Test
    void filterBefore_isReachedAnyway() {
        try (RunningApp app = RunningApp.start(List.of(EarlyFilter.class, TestApi.class), WAITS)) {
            assertThat(app.get("/any").status()).isEqualTo(200);
        }
    }

    @Test
    void filterWithoutAsync_refusesAtOnce_andWarns(CapturedOutput output) {
        try (RunningApp app = RunningApp.start(List.of(SynchronousFilter.class, TestApi.class), WAITS)) {
            assertThat(app.get("/any").status()).isEqualTo(200);
            assertThat(app.get("/any").status()).isEqualTo(429);
        }
        assertThat(output).contains("cannot wait for their permits, so they are refused at once");
    }

    @Test
    void limitOfACall_failsTheStart(CapturedOutput output) {
        assertThatThrownBy(() -> RunningApp.start(
                                List.of(ByArgument.class),
                                "ratelimit.policies.api.limit=1/hour",
                                "ratelimit.policies.api.match.annotated=true",
                                "ratelimit.policies.api.key=#name",
                                "ratelimit.policies.api.on-exceeded.action=wait")
                        .close())
                .isInstanceOf(Exception.class);

        assertThat(output)
                .contains("policy 'api' has on-exceeded.action: wait, but it is charged when this method is called")
                .contains("Use a policy without on-exceeded");
    }
}
