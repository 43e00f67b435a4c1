package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests wait for their permits without a thread. */
@Tag("servers")
class WaitTest {

    private final RunningApp app = RunningApp.start(
            List.of(TestApi.class),
            "ratelimit.policies.queue.limit=1/minute",
            "ratelimit.policies.queue.key=ip",
            "ratelimit.policies.queue.match.paths=/any",
            "ratelimit.policies.queue.on-exceeded.action=wait",
            "ratelimit.policies.queue.on-exceeded.max-wait=2m");

    @AfterEach
    void stop() {
        app.close();
    }

    private int waiting() {
        return (int) app.bean(MeterRegistry.class)
                .get("ratelimit.waiting")
                .tag("policy", "queue")
                .gauge()
                .value();
    }

    @Test
    void request_overTheLimit_waitsForItsPermits() throws Exception {
        app.get("/any");

        CompletableFuture<RawResponse> waiting = CompletableFuture.supplyAsync(() -> app.get("/any"));
        await().until(() -> waiting() == 1);
        assertThat(waiting).isNotDone();
        app.ticker().advance(Duration.ofMinutes(1));

        assertThat(waiting.get(20, TimeUnit.SECONDS).status()).isEqualTo(200);
    }

    @Test
    void request_whoseClientLeaves_getsNoPermits() throws Exception {
        app.get("/any");
        try (Socket client = app.client().begin("GET /any HTTP/1.1")) {
            await().until(() -> waiting() == 1);
            client.setSoLinger(true, 0);
        }
        await().until(() -> waiting() == 0);
        app.ticker().advance(Duration.ofMinutes(1));

        assertThat(app.bean(TestApi.class).reached()).isEqualTo(1);
        assertThat(app.get("/any").status()).isEqualTo(200);
    }
}
