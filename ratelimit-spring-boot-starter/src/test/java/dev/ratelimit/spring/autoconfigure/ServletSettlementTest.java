package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.spring.Chains;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.Users;
import dev.ratelimit.spring.web.Committing;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.converter.HttpMessageNotWritableException;
import org.springframework.mock.web.MockAsyncContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** A charge is refunded only if every status of the request is free, whatever the container does with it. */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class ServletSettlementTest {

    /** Responses that are replaced, or come in pieces. */
    @RestController
    static class Answering {

        @GetMapping("/sent")
        void sent(@RequestParam int status, HttpServletResponse response) throws IOException {
            response.sendError(status);
        }

        @GetMapping("/forwarded")
        void forwarded(HttpServletRequest request, HttpServletResponse response) throws Exception {
            response.setStatus(401);
            request.getRequestDispatcher("/failed.html").forward(request, response);
        }

        @GetMapping("/redirected")
        void redirected(
                @RequestParam(defaultValue = "") String with,
                @RequestParam(required = false) boolean flush,
                HttpServletResponse response)
                throws IOException {
            OnBoot.redirect(response, with, "/any");
            if (flush) {
                response.flushBuffer();
            }
            throw new IllegalStateException("broken");
        }

        @GetMapping("/pieces")
        void pieces(HttpServletResponse response) throws IOException {
            for (int i = 0; i < 3; i++) {
                response.getWriter().write("piece");
                response.flushBuffer();
            }
        }

        @GetMapping("/unwritable")
        String unwritable() {
            throw new HttpMessageNotWritableException("broken");
        }

        @GetMapping("/page")
        String page(HttpServletResponse response) {
            response.setStatus(200);
            return "all is well";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Site {

        final ApplicationContext context;

        Site(ApplicationContext context) {
            this.context = context;
        }

        Filter filter(String name) {
            return Objects.requireNonNull(
                    context.getBean(name, FilterRegistrationBean.class).getFilter());
        }

        @Bean
        OnBoot.ErrorPages pages() {
            return new OnBoot.ErrorPages()
                    .with(HttpStatus.CONFLICT, "/failed.html")
                    .with(HttpStatus.GONE, "/page");
        }
    }

    private final RunningApp app;

    ServletSettlementTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(
                        Answering.class,
                        Site.class,
                        Committing.class,
                        Chains.OpenToAll.class,
                        Users.class,
                        TestApi.class,
                        RunningApp.WithSecurity.class),
                "ratelimit.policies.counting.limit=9/hour",
                "ratelimit.policies.counting.count=401",
                "ratelimit.policies.counting.key=header:X-Counting",
                "ratelimit.policies.counting.missing-key=skip",
                "ratelimit.policies.freeing.limit=9/hour",
                "ratelimit.policies.freeing.free=2xx",
                "ratelimit.policies.freeing.key=header:X-Freeing",
                "ratelimit.policies.freeing.missing-key=skip",
                "ratelimit.policies.narrow.limit=1/hour",
                "ratelimit.policies.narrow.key=user",
                "ratelimit.policies.narrow.match.paths=/any",
                "ratelimit.exempt.paths=/orders/**",
                "spring.web.resources.static-locations=classpath:/pages/");
    }

    @AfterEach
    void forget() {
        app.ticker().advance(Duration.ofHours(2));
    }

    private long remaining(String name, String value) {
        Policy policy = Policy.of(name, TokenBucket.of(Rate.parse("9/hour")));
        RateLimiter limiter = app.bean(RateLimiter.class);
        return limiter.peek(policy.charge("h" + value.length() + ":" + value))
                .limits()
                .get(0)
                .remaining();
    }

    @ParameterizedTest
    @CsvSource({
        // path, Range, status, left of count: 401, left of free: 2xx
        "/sent?status=409, bytes=0-1, 206, 9, 8",
        "/sent?status=409, bytes=99-, 416, 8, 8",
        "/sent?status=410, bytes=0-1, 200, 9, 8",
        "/forwarded, bytes=0-1, 206, 8, 8",
        "/forwarded, bytes=99-, 416, 8, 8",
        "/failed.html, bytes=0-1, 206, 9, 9",
        "/unwritable, bytes=0-1, 500, 8, 8"
    })
    void status_replacesAnother_isFreeOnlyIfBothAre(String path, String range, int status, int count, int free)
            throws Exception {
        assertThat(app.get(path, "X-Counting: a", "X-Freeing: a", "Range: " + range)
                        .status())
                .isEqualTo(status);

        await().untilAsserted(() -> assertThat(List.of(remaining("counting", "a"), remaining("freeing", "a")))
                .containsExactly((long) count, (long) free));
    }

    static Stream<String> redirects() {
        return Stream.concat(
                Stream.of("/redirected?flush=true"), OnBoot.redirects().map(way -> "/redirected?with=" + way));
    }

    @ParameterizedTest
    @MethodSource("redirects")
    void exception_afterARedirect_isCharged(String path) {
        app.get(path, "X-Counting: b");

        assertThat(remaining("counting", "b")).isEqualTo(8);
    }

    @Test
    void response_committedInPieces_isRefundedOnce() {
        app.get("/sent?status=401", "X-Counting: c");
        app.get("/pieces", "X-Counting: c");

        await().until(() -> remaining("counting", "c") == 8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/any", "/orders/1"})
    void secondStage_refusesOrExempts_refundsOnce(String path) {
        app.get("/sent?status=401", "X-Counting: d", "X-Freeing: d");
        assertThat(app.getAs("alice", path).status()).isEqualTo(200);

        app.getAs("alice", path, "X-Counting: d", "X-Freeing: d", "X-Hasty: yes");
        app.getAs("alice", path, "X-Counting: d", "X-Freeing: d");

        await().until(() -> remaining("counting", "d") == 8 && remaining("freeing", "d") == 8);
    }

    @Test
    void asynchronous_failsWhereNoErrorPageFollows_isCharged() throws Exception {
        MockHttpServletRequest request = startAsync("e");
        AsyncListener settlement = listener(request);

        settlement.onError(new AsyncEvent(null));
        settlement.onComplete(new AsyncEvent(null));

        assertThat(remaining("counting", "e")).isEqualTo(8);
    }

    @Test
    void asynchronousDispatch_throwsWhereNoErrorPageFollows_isCharged() throws Exception {
        MockHttpServletRequest request = startAsync("f");
        AsyncListener settlement = listener(request);
        request.setDispatcherType(DispatcherType.ASYNC);

        assertThatIllegalStateException()
                .isThrownBy(() -> app.bean(Site.class)
                        .filter("dev.ratelimit.outermostFilter")
                        .doFilter(request, new MockHttpServletResponse(), (asked, answer) -> {
                            throw new IllegalStateException("broken");
                        }));
        settlement.onComplete(new AsyncEvent(null));

        assertThat(remaining("counting", "f")).isEqualTo(8);
    }

    @Test
    void asynchronous_completes_isRefunded() throws Exception {
        listener(startAsync("g")).onComplete(new AsyncEvent(null));

        assertThat(remaining("counting", "g")).isEqualTo(9);
    }

    /** A request in a container without error dispatches. */
    private MockHttpServletRequest startAsync(String key) throws Exception {
        MockHttpServletRequest request = new MockHttpServletRequest("GET", "/any");
        request.setAsyncSupported(true);
        request.addHeader("X-Counting", key);
        Filter limits = app.bean(Site.class).filter("dev.ratelimit.filterBeforeSecurity");
        FilterChain handler = (asked, answer) -> asked.startAsync();
        app.bean(Site.class)
                .filter("dev.ratelimit.outermostFilter")
                .doFilter(
                        request,
                        new MockHttpServletResponse(),
                        (asked, answer) -> limits.doFilter(asked, answer, handler));
        return request;
    }

    private static AsyncListener listener(MockHttpServletRequest request) {
        MockAsyncContext context = Objects.requireNonNull((MockAsyncContext) request.getAsyncContext());
        return context.getListeners().get(0);
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 102, 103})
    void interimAnswer_isNoError(int status) throws Exception {
        MockHttpServletRequest request = new MockHttpServletRequest();
        MockHttpServletResponse response = new MockHttpServletResponse() {
            @Override
            public void sendError(int interim) {
                // the response is still to come
            }
        };
        request.addHeader("X-Counting", "h" + status);
        request.setRequestURI("/any");
        Filter limits = app.bean(Site.class).filter("dev.ratelimit.filterBeforeSecurity");
        FilterChain handler = (asked, answer) -> ((HttpServletResponse) answer).sendError(status);

        app.bean(Site.class)
                .filter("dev.ratelimit.outermostFilter")
                .doFilter(request, response, (asked, answer) -> limits.doFilter(asked, answer, handler));

        assertThat(remaining("counting", "h" + status)).isEqualTo(9);
    }
}
