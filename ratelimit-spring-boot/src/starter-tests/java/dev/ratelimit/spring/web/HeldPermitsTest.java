package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Permits of concurrency limits come back exactly once, however a request ends. */
@ParameterizedClass
@MethodSource("servers")
@Tag("slow")
class HeldPermitsTest {

    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(2));

    private final RunningApp app;

    HeldPermitsTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(EndingsTest.Answers.class, Endings.class, Endings.Pages.class, TestApi.class, Staying.class),
                "ratelimit.policies.slots.concurrency=2",
                "ratelimit.policies.slots.key=header:X-Slots",
                "ratelimit.policies.slots.missing-key=skip",
                "ratelimit.policies.both.limit=5/hour",
                "ratelimit.policies.both.concurrency=1",
                "ratelimit.policies.both.key=header:X-Both",
                "ratelimit.policies.both.missing-key=skip",
                "ratelimit.policies.free.limit=100/hour",
                "ratelimit.policies.free.concurrency=2",
                "ratelimit.policies.free.free=2xx",
                "ratelimit.policies.free.key=header:X-Free",
                "ratelimit.policies.free.missing-key=skip");
    }

    private long held(Policy policy, String key) {
        return held(app, policy, key);
    }

    /** The permits of the key that are in use. */
    static long held(RunningApp app, Policy policy, String key) {
        LimitStatus status = app.bean(RateLimiter.class)
                .inspect(policy, "h" + key.length() + ":" + key)
                .get(0);
        return status.limit().capacity() - status.remaining();
    }

    private void awaitNoneHeld(String key) {
        // the server reports the end of an aborted response as soon as it has a thread for that
        await().atMost(Duration.ofMinutes(1)).until(() -> held(SLOTS, key) == 0);
    }

    /** Each ends in another way; the client reads the whole response. */
    static final List<String> COMPLETE = List.of(
            "/body?status=200",
            "/body?status=401",
            "/sent?status=404",
            "/resolved?status=500",
            "/nowhere",
            "/thrown",
            "/fatal",
            "/thrown-after-status",
            "/thrown-to-page",
            "/thrown-to-filter",
            "/thrown-after-commit",
            "/later?status=200",
            "/thrown-later",
            "/sse",
            "/stream");

    /** Those that only this web stack has. */
    static Stream<String> more() {
        return Endings.MORE.stream().map(row -> row.substring(0, row.indexOf(',')));
    }

    /** Complete responses, and one that times out. */
    static Stream<String> endings() {
        return Stream.of(COMPLETE.stream(), more(), Stream.of("/never")).flatMap(paths -> paths);
    }

    @ParameterizedTest
    @MethodSource("endings")
    void request_ends_returnsItsPermitOnce(String path) {
        for (int i = 0; i < 4; i++) {
            assertThat(app.get(path, "X-Slots: " + path, "X-Free: " + path).status())
                    .isNotEqualTo(429);
            awaitNoneHeld(path);
        }
    }

    @Test
    void requests_inside_areAtMostTheLimit() throws Exception {
        Staying staying = app.bean(Staying.class);
        ExecutorService clients = Executors.newFixedThreadPool(2);
        try {
            int before = staying.inside.get();
            List<Future<Integer>> inside = Stream.generate(() -> clients.submit(
                            () -> app.get("/stay", "X-Slots: at-once").status()))
                    .limit(2)
                    .toList();
            await().until(() -> staying.inside.get() == before + 2);

            RunningApp site = app;
            assertThat(site.get("/stay", "X-Slots: at-once"))
                    .satisfies(refused -> assertThat(refused.status()).isEqualTo(429))
                    .satisfies(refused -> assertThat(refused.body()).contains("'slots' of 2 at once"))
                    .satisfies(refused -> assertThat(refused.header("RateLimit-Policy"))
                            .isEqualTo("\"slots\";q=2;qu=\"concurrent-requests\""))
                    .satisfies(
                            refused -> assertThat(refused.header("RateLimit")).isEqualTo("\"slots\";r=0"));

            staying.letGo();
            for (Future<Integer> one : inside) {
                assertThat(one.get()).isEqualTo(200);
            }
            awaitNoneHeld("at-once");
        } finally {
            staying.letGo();
            clients.shutdownNow();
        }
    }

    @Test
    void resultThatComesLater_holdsAPermitUntilItIsThere() throws Exception {
        Staying staying = app.bean(Staying.class);
        int before = staying.inside.get();
        ExecutorService client = Executors.newSingleThreadExecutor();
        try {
            Future<Integer> status =
                    client.submit(() -> app.get("/stay-later", "X-Slots: later").status());
            await().until(() -> staying.inside.get() == before + 1);

            assertThat(held(SLOTS, "later")).isEqualTo(1);
            staying.letGo();

            assertThat(status.get()).isEqualTo(200);
            awaitNoneHeld("later");
        } finally {
            client.shutdownNow();
        }
    }

    @Test
    void rateAndConcurrency_areBothCharged_andOnlyThePermitComesBack() {
        for (int i = 0; i < 5; i++) {
            assertThat(app.get("/body?status=200", "X-Both: a").status()).isEqualTo(200);
            await().until(() -> held(Policy.of("both/concurrency", Concurrency.of(1)), "a") == 0);
        }

        assertThat(app.get("/body?status=200", "X-Both: a").status()).isEqualTo(429);
        assertThat(held(Policy.of("both/concurrency", Concurrency.of(1)), "a")).isZero();
    }

    @Test
    void annotation_holdsAPermitToo() {
        for (int i = 0; i < 3; i++) {
            assertThat(app.get("/annotated", "X-Annotated: a").status()).isEqualTo(200);
            await().until(() -> held(Policy.of("Staying.annotated", Concurrency.of(1)), "a") == 0);
        }
    }

    @Test
    void permit_neverReturned_isFreeAfterMaxHold() {
        RateLimiter limiter = app.bean(RateLimiter.class);
        limiter.decide(SLOTS.charge("h4:lost", 2)).admitted();
        assertThat(app.get("/body?status=200", "X-Slots: lost").status()).isEqualTo(429);

        app.ticker().advance(Duration.ofMinutes(10));

        assertThat(app.get("/body?status=200", "X-Slots: lost").status()).isEqualTo(200);
    }
}
