package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.OncePerRequestFilter;

/** A request that has waited is handled like one that has not. */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class AfterWaitTest {

    /** A filter after the rate limits, such as that of Spring Security. */
    @Component
    @Order(0)
    static class Later extends OncePerRequestFilter {

        final List<String> seen = new CopyOnWriteArrayList<>();

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            seen.add(request.getDispatcherType() + " " + request.getRequestURI());
            chain.doFilter(request, response);
        }
    }

    /** Sees also what handlers forward to, and only requests to its path. */
    @Configuration(proxyBeanMethods = false)
    static class Mapped {

        static final List<String> SEEN = new CopyOnWriteArrayList<>();

        @Bean
        FilterRegistrationBean<Filter> mapped() {
            FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
                HttpServletRequest http = (HttpServletRequest) request;
                SEEN.add(http.getDispatcherType() + " " + http.getServletPath() + " " + http.getRequestURL());
                chain.doFilter(request, response);
            });
            registration.addUrlPatterns("/forward", "/deferred", "/orders/*");
            registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.FORWARD);
            return registration;
        }
    }

    /** Says when the server would give up an asynchronous request. */
    @RestController
    static class TimeLimit {

        @GetMapping("/time-limit")
        void timeLimit(HttpServletRequest request, HttpServletResponse response) throws IOException {
            AsyncContext context = request.startAsync();
            response.getWriter().print(context.getTimeout());
            context.complete();
        }
    }

    private final RunningApp app;
    private final ExecutorService client = Executors.newSingleThreadExecutor();

    AfterWaitTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(
                        TestApi.class,
                        Later.class,
                        Mapped.class,
                        TimeLimit.class,
                        Endings.class,
                        Endings.Pages.class,
                        EndingsTest.Answers.class),
                "server.forward-headers-strategy=framework",
                "ratelimit.policies.one.limit=1/minute",
                "ratelimit.policies.one.key=header:X-Key",
                "ratelimit.policies.one.on-exceeded.action=wait",
                "ratelimit.policies.one.on-exceeded.max-wait=1m");
    }

    @AfterEach
    void stop() {
        client.shutdownNow();
    }

    private RawResponse getAfterWait(String path, String... headers) {
        CompletableFuture<RawResponse> answer = CompletableFuture.supplyAsync(() -> app.get(path, headers), client);
        await().until(() -> app.bean(WaitingRequests.class).waiting("one") == 1);
        app.ticker().advance(Duration.ofMinutes(1));
        return answer.join();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/orders/1",
                "/orders/a%20b;v=1?q=%C3%A9",
                "/callable",
                "/callable-forward",
                "/callable-boom",
                "/deferred",
                "/deferred-timeout",
                "/sse",
                "/stream",
                "/forward",
                "/boom",
                "/send-error",
                "/nowhere",
                "/body?status=200",
                "/sent?status=404",
                "/resolved?status=500",
                "/thrown-to-page",
                "/thrown-after-commit",
                "/later?status=200",
                "/sent-later?status=410",
                "/thrown-later",
                "/never",
                "/time-limit",
            })
    void response_isThatOfARequestThatDidNotWait(String path) {
        Later later = app.bean(Later.class);
        later.seen.clear();
        RawResponse before = app.get(path, "X-Key: " + path);
        List<String> filtered = List.copyOf(later.seen);
        later.seen.clear();

        RawResponse after = getAfterWait(path, "X-Key: " + path);

        assertThat(after.status()).isEqualTo(before.status());
        assertThat(withoutTime(after)).isEqualTo(withoutTime(before));
        assertThat(after.header("Content-Type")).isEqualTo(before.header("Content-Type"));
        assertThat(after.header("RateLimit")).isEqualTo(before.header("RateLimit"));
        assertThat(later.seen).isEqualTo(filtered);
        assertThat(filtered.get(0)).startsWith(DispatcherType.REQUEST + " ");
    }

    @ParameterizedTest
    @CsvSource({
        "/forward, X-Other: any",
        "/orders/2, X-Other: any",
        "/orders/2?a=1, X-Forwarded-Prefix: /outside",
        "/deferred, X-Forwarded-Prefix: /outside"
    })
    void filters_areThoseOfARequestThatDidNotWait(String path, String header) {
        String[] headers = {header, "X-Key: " + header + path};
        Mapped.SEEN.clear();
        assertThat(app.get(path, headers).status()).isEqualTo(200);
        List<String> before = List.copyOf(Mapped.SEEN);
        Mapped.SEEN.clear();

        assertThat(getAfterWait(path, headers).status()).isEqualTo(200);

        assertThat(Mapped.SEEN).isEqualTo(before).isNotEmpty();
    }

    private static String withoutTime(RawResponse response) {
        return response.body().replaceFirst("\"timestamp\":\"[^\"]*\"", "");
    }
}
