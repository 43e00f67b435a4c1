package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Policies that count only some responses: 2 per hour that are a 401 or a server error. */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class CountTest {

    /** Answers with the requested status. */
    @RestController
    static class Answering {

        final AtomicInteger reached = new AtomicInteger();

        @GetMapping("/answer")
        ResponseEntity<String> answer(@RequestParam int status) {
            reached.incrementAndGet();
            return ResponseEntity.status(status).body("answer");
        }

        @GetMapping("/thrown")
        String thrown(@RequestParam int status) {
            throw new ResponseStatusException(HttpStatus.valueOf(status));
        }

        @GetMapping("/broken")
        String broken() {
            throw new IllegalStateException("broken");
        }

        @GetMapping("/broken-error")
        String brokenError() {
            throw new AssertionError("broken");
        }
    }

    private final RunningApp app;

    CountTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(Answering.class, Endings.class, Endings.Pages.class, TestApi.class),
                "ratelimit.policies.failures.limit=2/hour",
                "ratelimit.policies.failures.count=401, 5xx",
                "ratelimit.policies.failures.key=header:X-Case");
    }

    @AfterEach
    void forget() {
        app.ticker().advance(Duration.ofHours(2));
    }

    @ParameterizedTest
    @CsvSource({
        "/answer?status=200, 200, false",
        "/answer?status=403, 403, false",
        "/answer?status=401, 401, true",
        "/answer?status=503, 503, true",
        "/later?status=401, 401, true",
        "/later?status=200, 200, false",
        "/sent?status=401, 401, true",
        "/sent?status=404, 404, false",
        "/thrown?status=401, 401, true",
        "/thrown?status=403, 403, false",
        "/broken, 500, true",
        "/broken-error, 500, true",
        "/thrown-later, 500, true",
        "/never, 503, true",
        "/nowhere, 404, false"
    })
    @DisplayName("C14 responses are counted, also of handlers that throw, answer later or never")
    void response_isCountedByItsStatus(String path, int status, boolean counted) {
        for (int i = 0; i < 2; i++) {
            assertThat(app.get(path, "X-Case: " + path).status()).isEqualTo(status);
        }
        if (!counted) {
            awaitNothingCharged("h" + path.length() + ":" + path);
        }

        int third = app.get(path, "X-Case: " + path).status();

        assertThat(third).isEqualTo(counted ? 429 : status);
    }

    /** The response may arrive before the server has completed the request. */
    private void awaitNothingCharged(String key) {
        Policy policy = Policy.of("failures", TokenBucket.of(Rate.parse("2/hour")));
        RateLimiter limiter = app.bean(RateLimiter.class);
        await().until(() -> limiter.peek(policy.charge(key)).limits().get(0).remaining() == 2);
    }

    @Test
    void reserved_meansThatParallelAttemptsCannotPassTogether() throws Exception {
        Answering controller = app.bean(Answering.class);
        int before = controller.reached.get();
        Thread[] threads = new Thread[20];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> app.get("/answer?status=401", "X-Case: parallel"));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(controller.reached.get() - before).isEqualTo(2);
    }
}
