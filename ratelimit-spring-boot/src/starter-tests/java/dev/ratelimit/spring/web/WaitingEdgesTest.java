package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.OnlyOn;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Stack;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Who waits, who does not, and for how long. */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class WaitingEdgesTest {

    /** Reads what was sent. */
    @RestController
    static class Echo {

        @PostMapping("/echo")
        String echo(@RequestBody String body) {
            return body;
        }
    }

    private final RunningApp app;
    private final ExecutorService clients = Executors.newCachedThreadPool();
    private final String key = Long.toHexString(System.nanoTime());

    WaitingEdgesTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(TestApi.class, Echo.class, Staying.class),
                policies(
                        "waits: limit=1/minute, on-exceeded.action=wait, on-exceeded.max-wait=1m",
                        "rejects: limit=1/minute",
                        "tried: limit=1/hour, mode=shadow",
                        "newest: limit=1/minute, on-exceeded.action=wait, on-exceeded.max-wait=1m, on-exceeded.queue=2,"
                                + " on-exceeded.order=newest-first",
                        "slots: concurrency=1, on-exceeded.action=wait, on-exceeded.max-wait=500ms",
                        "later: limit=1/minute, on-exceeded.action=delay, on-exceeded.delay=10s, on-exceeded.delayed=2"));
    }

    /** Each by a header with its name. */
    private static String[] policies(String... texts) {
        return Stream.of(texts)
                .flatMap(text -> {
                    String name = "ratelimit.policies." + text.substring(0, text.indexOf(':')) + ".";
                    return Stream.concat(
                            Stream.of(text.substring(text.indexOf(':') + 1).split(","))
                                    .map(option -> name + option.strip()),
                            Stream.of(
                                    name + "key=header:X-" + text.substring(0, text.indexOf(':')),
                                    name + "missing-key=skip",
                                    name + "retry-jitter.max=0s"));
                })
                .toArray(String[]::new);
    }

    @BeforeEach
    void nobodyWaits() {
        Stream.of("waits", "newest", "slots", "later").forEach(policy -> awaitWaiting(policy, 0));
    }

    @AfterEach
    void stop() {
        clients.shutdownNow();
    }

    private CompletableFuture<RawResponse> send(String path, String... headers) {
        return CompletableFuture.supplyAsync(() -> app.get(path, headers), clients);
    }

    private String by(String policy) {
        return "X-" + policy + ": " + key;
    }

    private void awaitWaiting(String policy, int requests) {
        await().until(() -> app.bean(WaitingRequests.class).waiting(policy) == requests);
    }

    @Test
    void policyThatRejects_refusesAtOnce() {
        assertThat(app.get("/any", by("waits"), by("rejects")).status()).isEqualTo(200);

        assertThat(app.get("/any", by("waits"), by("rejects")).status()).isEqualTo(429);
        assertThat(app.get("/any", by("rejects")).status()).isEqualTo(429);
    }

    @Test
    @OnlyOn(value = Stack.SERVLET, difference = "on-exceeded: wait")
    void upgradeToAnotherProtocol_isRefusedAtOnce() {
        assertThat(app.get("/any", by("waits")).status()).isEqualTo(200);

        assertThat(app.get("/any", by("waits"), "Connection: Upgrade", "Upgrade: websocket")
                        .status())
                .isEqualTo(429);
    }

    @Test
    void upgradeToHttp2_waits() {
        assertThat(app.get("/any", by("waits")).status()).isEqualTo(200);

        CompletableFuture<RawResponse> waiting = send("/any", by("waits"), "Connection: Upgrade", "Upgrade: h2c");
        awaitWaiting("waits", 1);
        app.ticker().advance(Duration.ofMinutes(1));

        assertThat(waiting.join().status()).isEqualTo(200);
    }

    @Test
    void policyInShadowMode_hasNoSay() {
        assertThat(app.get("/any", by("waits"), by("tried")).status()).isEqualTo(200);

        CompletableFuture<RawResponse> waiting = send("/any", by("waits"), by("tried"));
        awaitWaiting("waits", 1);
        app.ticker().advance(Duration.ofMinutes(1));

        assertThat(waiting.join().status()).isEqualTo(200);
    }

    @Test
    void waitingRequest_holdsNothingOfOtherPolicies() {
        assertThat(app.get("/any", by("waits")).status()).isEqualTo(200);
        CompletableFuture<RawResponse> waiting = send("/any", by("waits"), by("rejects"));
        awaitWaiting("waits", 1);

        assertThat(app.get("/any", by("rejects")).status()).isEqualTo(200);
        app.ticker().advance(Duration.ofMinutes(1));

        assertThat(waiting.join().status()).isEqualTo(200);
    }

    @Test
    void permitsTakenByOthers_refuseAfterMaxWait() {
        assertThat(app.get("/any", by("waits")).status()).isEqualTo(200);
        CompletableFuture<RawResponse> waiting = send("/any", by("waits"), by("rejects"));
        awaitWaiting("waits", 1);
        app.ticker().advance(Duration.ofSeconds(59));
        assertThat(app.get("/any", by("rejects")).status()).isEqualTo(200);

        app.ticker().advance(Duration.ofSeconds(1));

        assertThat(waiting.join().status()).isEqualTo(429);
        assertThat(waiting.join().header("Retry-After")).isEqualTo("59");
    }

    @Test
    void newestFirst_servesTheNewest_andRefusesTheOldest() {
        assertThat(app.get("/any", by("newest")).status()).isEqualTo(200);
        CompletableFuture<RawResponse> oldest = send("/any", by("newest"));
        awaitWaiting("newest", 1);
        app.ticker().advance(Duration.ofSeconds(1));
        CompletableFuture<RawResponse> older = send("/any", by("newest"));
        awaitWaiting("newest", 2);
        app.ticker().advance(Duration.ofSeconds(1));
        CompletableFuture<RawResponse> newest = send("/any", by("newest"));

        assertThat(oldest.join().status()).isEqualTo(429);
        app.ticker().advance(Duration.ofSeconds(58));

        assertThat(newest.join().status()).isEqualTo(200);
        app.ticker().advance(Duration.ofSeconds(3));
        assertThat(older.join().status()).isEqualTo(429);
    }

    @Test
    void permitThatComesBack_wakesTheNextRequest() {
        Staying staying = app.bean(Staying.class);
        int before = staying.inside.get();
        CompletableFuture<RawResponse> first = send("/stay", by("slots"));
        await().until(() -> staying.inside.get() == before + 1);
        CompletableFuture<RawResponse> second = send("/any", by("slots"));
        awaitWaiting("slots", 1);
        assertThat(app.counted("slots", "waited")).isZero();

        staying.letGo();

        assertThat(first.join().status()).isEqualTo(200);
        assertThat(second.join().status()).isEqualTo(200);
        app.awaitCounted("slots", "waited", 1);
    }

    @Test
    void delay_holdsRefusalsBack_upToABound() {
        assertThat(app.get("/any", by("later")).status()).isEqualTo(200);
        long delayed = app.counted("later", "delayed");
        List<CompletableFuture<RawResponse>> held = List.of(send("/any", by("later")), send("/any", by("later")));
        awaitWaiting("later", 2);

        RawResponse atOnce = app.get("/any", by("later"));
        assertThat(atOnce.status()).isEqualTo(429);
        assertThat(atOnce.header("Retry-After")).isEqualTo("60");
        app.ticker().advance(Duration.ofSeconds(10));

        assertThat(held).extracting(CompletableFuture::join).allSatisfy(refused -> {
            assertThat(refused.status()).isEqualTo(429);
            assertThat(refused.header("Retry-After")).isEqualTo("50");
            assertThat(refused.body()).contains("Limit 'later' of 1 per minute is exceeded. Retry after 50 seconds.");
        });
        app.awaitCounted("later", "delayed", delayed + 2);
    }

    @Test
    void changedLimit_appliesToThoseWhoWait() {
        RateLimitPolicies policies = app.bean(RateLimitPolicies.class);
        assertThat(app.get("/any", by("waits")).status()).isEqualTo(200);
        CompletableFuture<RawResponse> first = send("/any", by("waits"));
        awaitWaiting("waits", 1);
        CompletableFuture<RawResponse> second = send("/any?other", "X-waits: " + key + "x");
        assertThat(second.join().status()).isEqualTo(200);
        try {
            policies.change("waits", RateLimitChange.toLimit("10/minute"));
            app.ticker().advance(Duration.ofSeconds(6));
            assertThat(first.join().status()).isEqualTo(200);

            policies.change("waits", RateLimitChange.toLimit("1/minute"));
            CompletableFuture<RawResponse> third = send("/any", by("waits"));
            awaitWaiting("waits", 1);
            policies.change("waits", RateLimitChange.toMode(Mode.OFF));
            assertThat(third.join().status()).isEqualTo(200);
        } finally {
            policies.restore("waits");
        }
    }

    @Test
    void body_isReadAfterTheWait() throws IOException {
        assertThat(app.get("/any", by("waits")).status()).isEqualTo(200);
        String body = "x".repeat(100_000);
        try (Socket socket = app.client()
                .begin("POST /echo HTTP/1.1", by("waits"), "Content-Type: text/plain", "Content-Length: 100000")) {
            awaitWaiting("waits", 1);
            app.ticker().advance(Duration.ofMinutes(1));
            socket.getOutputStream().write(body.getBytes(StandardCharsets.US_ASCII));

            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            assertThat(answer).startsWith("HTTP/1.1 200");
            assertThat(answer).contains(body.substring(0, 1_000));
        }
    }
}
