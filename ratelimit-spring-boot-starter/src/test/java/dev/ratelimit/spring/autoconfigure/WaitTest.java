package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A burst of requests that wait for their permits, on a server with two threads. */
@Tag("servers")
class WaitTest {

    private static final int REQUESTS = 200;
    private static final String ON_EXCEEDED = "ratelimit.policies.api.on-exceeded.";

    private final ExecutorService clients = Executors.newFixedThreadPool(REQUESTS);

    @AfterEach
    void stop() {
        clients.shutdownNow();
    }

    private static RunningApp start(String... waiting) {
        List<String> properties = new ArrayList<>(List.of(
                // a server that stops at once would close the connections of those who wait
                "server.shutdown=graceful",
                "server.tomcat.threads.max=2",
                "ratelimit.policies.api.limit=50/second",
                "ratelimit.policies.api.retry-jitter.max=0s",
                ON_EXCEEDED + "action=wait"));
        properties.addAll(List.of(waiting));
        return RunningApp.start(List.of(TestApi.class), properties.toArray(String[]::new));
    }

    private List<CompletableFuture<RawResponse>> sendAll(RunningApp app) {
        return IntStream.range(0, REQUESTS)
                .mapToObj(i -> CompletableFuture.supplyAsync(() -> app.get("/orders/" + i), clients))
                .toList();
    }

    private static long count(List<CompletableFuture<RawResponse>> answers, int status) {
        return answers.stream()
                .filter(answer -> answer.isDone() && answer.join().status() == status)
                .count();
    }

    private static int waiting(RunningApp app) {
        return (int) app.bean(MeterRegistry.class)
                .get("ratelimit.waiting")
                .tag("policy", "api")
                .gauge()
                .value();
    }

    private static long serverThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().matches("http-nio-.*-exec-.*"))
                .count();
    }

    private static void advance(RunningApp app, int permits) {
        for (int i = 0; i < permits; i++) {
            app.ticker().advance(Duration.ofMillis(20));
        }
    }

    @Test
    void burst_waitsInLine_isAdmittedAsTheLimitAllows() {
        try (RunningApp app = start(ON_EXCEEDED + "max-wait=4s", ON_EXCEEDED + "queue=200")) {
            List<CompletableFuture<RawResponse>> answers = sendAll(app);
            await().until(() -> waiting(app) == 150 && count(answers, 200) == 50);
            assertThat(serverThreads()).isEqualTo(2);

            for (int admitted = 75; admitted <= REQUESTS; admitted += 25) {
                advance(app, 25);
                int expected = admitted;
                await().until(() -> count(answers, 200) == expected);
                assertThat(waiting(app)).isEqualTo(REQUESTS - expected);
            }

            assertThat(serverThreads()).isEqualTo(2);
            assertThat(app.bean(TestApi.class).reached()).isEqualTo(REQUESTS);
            app.awaitCounted("api", "admitted", 50);
            app.awaitCounted("api", "waited", 150);
            assertThat(app.counted("api", "refused")).isZero();
        }
    }

    @Test
    void fullQueue_refusesAtOnce() {
        try (RunningApp app = start(ON_EXCEEDED + "max-wait=4s", ON_EXCEEDED + "queue=100")) {
            List<CompletableFuture<RawResponse>> answers = sendAll(app);

            await().until(() -> count(answers, 200) == 50 && count(answers, 429) == 50);
            assertThat(waiting(app)).isEqualTo(100);
            app.awaitCounted("api", "refused", 50);

            advance(app, 100);
            await().until(() -> count(answers, 200) == 150);
        }
    }

    @Test
    void tooLongALine_refusesAtOnce_withTheWaitBehindIt() {
        try (RunningApp app = start(ON_EXCEEDED + "max-wait=1s", ON_EXCEEDED + "queue=200")) {
            List<CompletableFuture<RawResponse>> answers = sendAll(app);

            await().until(() -> count(answers, 200) == 50 && count(answers, 429) == 100);
            assertThat(waiting(app)).isEqualTo(50);
            assertThat(answers.stream().filter(CompletableFuture::isDone).map(CompletableFuture::join))
                    .filteredOn(answer -> answer.status() == 429)
                    .allSatisfy(
                            refused -> assertThat(refused.header("Retry-After")).isEqualTo("2"));

            advance(app, 50);
            await().until(() -> count(answers, 200) == 100);
        }
    }

    @Test
    void admittedAfterWaiting_hasTheHeadersOfThatDecision() {
        try (RunningApp app = start(ON_EXCEEDED + "max-wait=4s", "ratelimit.expose-shared=true")) {
            for (int i = 0; i < 50; i++) {
                assertThat(app.get("/orders/1").status()).isEqualTo(200);
            }
            CompletableFuture<RawResponse> answer = CompletableFuture.supplyAsync(() -> app.get("/orders/1"), clients);
            await().until(() -> waiting(app) == 1);

            advance(app, 1);

            assertThat(answer.join().header("RateLimit")).startsWith("\"api\";r=0;t=1");
            assertThat(answer.join().header("Retry-After")).isNull();
        }
    }

    @Test
    void stop_whileRequestsWait_refusesThem() {
        List<CompletableFuture<RawResponse>> answers;
        try (RunningApp app = start(ON_EXCEEDED + "max-wait=1h", ON_EXCEEDED + "queue=200")) {
            answers = sendAll(app);
            await().until(() -> waiting(app) == 150 && count(answers, 200) == 50);
        }

        await().until(() -> count(answers, 200) == 50 && count(answers, 429) == 150);
    }
}
