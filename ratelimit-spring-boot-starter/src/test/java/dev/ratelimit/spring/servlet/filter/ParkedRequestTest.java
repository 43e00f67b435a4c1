package dev.ratelimit.spring.servlet.filter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** A request is answered, and leaves its queue, also if it cannot be parked or dispatched. */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class ParkedRequestTest {

    /** A server that fails at the method that the header {@code X-Fails} names. */
    @Component
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static class FailingServer extends OncePerRequestFilter {

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            String fails = request.getHeader("X-Fails");
            chain.doFilter(fails == null ? request : new FailingRequest(request, fails), response);
        }
    }

    private static final class FailingRequest extends HttpServletRequestWrapper {

        private final String fails;

        FailingRequest(HttpServletRequest request, String fails) {
            super(request);
            this.fails = fails;
        }

        @Override
        public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
            if (fails.equals("startAsync")) {
                throw new RejectedExecutionException("no threads");
            }
            AsyncContext context = super.startAsync(request, response);
            PARKED.incrementAndGet();
            context.addListener(new Ending());
            return (AsyncContext) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {AsyncContext.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals(fails)) {
                            throw new RejectedExecutionException("no threads");
                        }
                        try {
                            return method.invoke(context, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }

    /** Tells when a request is complete, for which a server that stops waits. */
    private static final class Ending implements AsyncListener {

        @Override
        public void onComplete(AsyncEvent event) {
            PARKED.decrementAndGet();
        }

        @Override
        public void onTimeout(AsyncEvent event) {}

        @Override
        public void onError(AsyncEvent event) {}

        @Override
        public void onStartAsync(AsyncEvent event) {}
    }

    /** How many requests are not complete, of those that a failing server has begun to park. */
    private static final AtomicInteger PARKED = new AtomicInteger();

    private final RunningApp app;
    private final ExecutorService client = Executors.newSingleThreadExecutor();

    ParkedRequestTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(TestApi.class, FailingServer.class),
                "ratelimit.policies.one.limit=1/minute",
                "ratelimit.policies.one.key=header:X-Key",
                "ratelimit.policies.one.on-exceeded.action=wait",
                "ratelimit.policies.one.on-exceeded.max-wait=1m");
    }

    @AfterEach
    void stop() {
        client.shutdownNow();
    }

    private int waiting() {
        return app.bean(WaitingRequests.class).waiting("one");
    }

    @Test
    void dispatchThatFails_answersWith503_andTakesNoPermits() {
        assertThat(app.get("/any", "X-Key: dispatch").status()).isEqualTo(200);
        CompletableFuture<RawResponse> answer =
                CompletableFuture.supplyAsync(() -> app.get("/any", "X-Key: dispatch", "X-Fails: dispatch"), client);
        await().until(() -> waiting() == 1);

        app.ticker().advance(Duration.ofMinutes(1));

        assertThat(answer.join().status()).isEqualTo(503);
        assertThat(waiting()).isZero();
        await().until(() -> PARKED.get() == 0);
        assertThat(app.get("/any", "X-Key: dispatch").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"startAsync", "addListener"})
    void parkingThatFails_isAnError_andNobodyWaits(String method) {
        assertThat(app.get("/any", "X-Key: " + method).status()).isEqualTo(200);

        assertThat(app.get("/any", "X-Key: " + method, "X-Fails: " + method).status())
                .isEqualTo(500);

        assertThat(waiting()).isZero();
        await().until(() -> PARKED.get() == 0);
    }
}
