package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** Permits of concurrency limits come back exactly once, however a request ends. */
@ParameterizedClass
@MethodSource("servers")
@Tag("slow")
class HeldPermitsTest {

    /** Requests that stay until they are let go. */
    @RestController
    static class Staying {

        final AtomicInteger inside = new AtomicInteger();
        volatile CountDownLatch door = new CountDownLatch(1);
        volatile DeferredResult<String> deferred = new DeferredResult<>(60_000L);

        @GetMapping("/stay")
        String stay() throws InterruptedException {
            inside.incrementAndGet();
            door.await();
            return "stayed";
        }

        @GetMapping("/stay-later")
        DeferredResult<String> deferred() {
            inside.incrementAndGet();
            return deferred;
        }

        @GetMapping("/fatal")
        String fatal() {
            throw new AssertionError("on purpose");
        }

        /** Fails to write on the server's own thread, and leaves it to the server to complete the request. */
        @GetMapping("/started-and-lost")
        void startedAndLost(HttpServletRequest request, HttpServletResponse response) {
            request.startAsync(request, response).setTimeout(0);
            try {
                while (true) {
                    response.getOutputStream().write(new byte[1_000]);
                    response.flushBuffer();
                }
            } catch (IOException e) {
                inside.incrementAndGet();
            }
        }

        /** Leaves it to the server to notice that the client is gone. */
        @GetMapping("/lost-later")
        SseEmitter lostLater() {
            SseEmitter emitter = new SseEmitter(0L);
            EndingsTest.Endings.sendUntilLost(emitter, lost -> inside.incrementAndGet());
            return emitter;
        }

        @GetMapping("/lost-by-writer")
        void lostByWriter(HttpServletRequest request, HttpServletResponse response) throws IOException {
            request.startAsync(request, response).setTimeout(0);
            PrintWriter writer = response.getWriter();
            while (!writer.checkError()) {
                writer.write("x".repeat(1_000));
                writer.flush();
            }
        }

        /** Whether the server offers to send a file after the request. */
        @GetMapping("/sendfile")
        String sendfile(HttpServletRequest request) {
            return String.valueOf(request.getAttribute("org.apache.tomcat.sendfile.support"));
        }

        @GetMapping("/annotated")
        @RateLimited(value = "1", algorithm = "concurrency", key = "header:X-Annotated")
        String annotated() {
            return "annotated";
        }
    }

    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(2));

    private final RunningApp app;

    HeldPermitsTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(EndingsTest.Endings.class, EndingsTest.Pages.class, TestApi.class, Staying.class),
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
            "/sent?status=410",
            "/resolved?status=500",
            "/nowhere",
            "/thrown",
            "/fatal",
            "/thrown-after-status",
            "/thrown-to-page",
            "/thrown-to-filter",
            "/thrown-after-commit",
            "/later?status=200",
            "/sent-later?status=410",
            "/thrown-later",
            "/sse",
            "/stream",
            "/forward");

    /** Complete responses, and one that times out. */
    static Stream<String> endings() {
        return Stream.concat(COMPLETE.stream(), Stream.of("/never"));
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

            staying.door.countDown();
            for (Future<Integer> one : inside) {
                assertThat(one.get()).isEqualTo(200);
            }
            awaitNoneHeld("at-once");
        } finally {
            staying.door.countDown();
            staying.door = new CountDownLatch(1);
            clients.shutdownNow();
        }
    }

    @Test
    void deferredResult_holdsItsPermitUntilItIsThere() throws Exception {
        Staying staying = app.bean(Staying.class);
        staying.deferred = new DeferredResult<>(60_000L);
        int before = staying.inside.get();
        ExecutorService client = Executors.newSingleThreadExecutor();
        try {
            Future<Integer> status =
                    client.submit(() -> app.get("/stay-later", "X-Slots: later").status());
            await().until(() -> staying.inside.get() == before + 1);

            assertThat(held(SLOTS, "later")).isEqualTo(1);
            staying.deferred.setResult("there");

            assertThat(status.get()).isEqualTo(200);
            awaitNoneHeld("later");
        } finally {
            client.shutdownNow();
        }
    }

    @Test
    void clientGone_whileEventsAreSent_returnsThePermit() throws Exception {
        for (int i = 0; i < 20; i++) {
            try (Socket socket = app.client().begin("GET /endless HTTP/1.1", "X-Slots: gone" + i)) {
                assertThat(socket.getInputStream().read()).isEqualTo('H');
                socket.setSoLinger(true, 0);
            }
        }
        for (int i = 0; i < 20; i++) {
            awaitNoneHeld("gone" + i);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/started-and-lost", "/lost-later", "/lost-by-writer"})
    void clientGone_andTheServerNeverReportsIt_returnsThePermit(String path) throws Exception {
        for (int i = 0; i < 5; i++) {
            try (Socket socket = app.client().begin("GET " + path + " HTTP/1.1", "X-Slots: lost" + path + i)) {
                assertThat(socket.getInputStream().read()).isEqualTo('H');
                socket.setSoLinger(true, 0);
            }
        }
        for (int i = 0; i < 5; i++) {
            awaitNoneHeld("lost" + path + i);
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

    @Test
    void sendfile_isOfferedOnlyToRequestsThatHoldNothing() {
        boolean tomcat = app.toString().startsWith("Tomcat");

        assertThat(app.get("/sendfile").body()).contains(tomcat ? "true" : "null");
        assertThat(app.get("/sendfile", "X-Slots: sendfile").body()).contains(tomcat ? "false" : "null");
    }
}
