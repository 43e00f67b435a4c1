package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.TestApi;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every request that ends returns its permit: at night, a leak of one in ten thousand would be found on each server. */
@Tag("slow")
class HeldPermitsCountTest {

    private static final int REQUESTS = Boolean.getBoolean("nightly") ? 10_000 : 2_500;
    private static final int CLIENTS = 8;
    private static final int PERMITS = 64;
    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(PERMITS));

    private static final List<String> COMPLETE = Stream.of(
                    HeldPermitsTest.COMPLETE.stream(), HeldPermitsTest.more(), TestApi.MORE.stream())
            .flatMap(paths -> paths)
            .toList();

    /** The client resets the connection, sooner or later. */
    private static final List<String> ABORTED = Stream.concat(
                    Stream.of("/endless", "/sse", "/later?status=200"), Staying.LOST.stream())
            .toList();

    /** One in this many requests is aborted or times out, which takes longer. */
    private static final int RARE = 50;

    @ParameterizedTest
    @MethodSource("dev.ratelimit.spring.RunningApp#servers")
    @DisplayName("after thousands of requests on each server, with every ending there is, all permits are back")
    void requests_withEveryEnding_returnAllPermits(Server server) throws Exception {
        try (RunningApp app = RunningApp.start(
                server,
                List.of(EndingsTest.Answers.class, Endings.class, Endings.Pages.class, TestApi.class, Staying.class),
                "logging.level.root=off",
                "ratelimit.policies.slots.concurrency=" + PERMITS)) {
            AtomicInteger next = new AtomicInteger();
            ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
            List<Future<?>> done = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                done.add(clients.submit(() -> {
                    for (int n = next.getAndIncrement(); n < REQUESTS; n = next.getAndIncrement()) {
                        request(app, n);
                    }
                    return null;
                }));
            }
            for (Future<?> one : done) {
                one.get();
            }
            clients.shutdown();

            // time stands still, so no permit comes back by max-hold
            Endings endings = app.bean(Endings.class);
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(held(app))
                            .as("permits held on %s, and requests that have not ended", server)
                            .isEqualTo(endings.unended()));
            app.ticker().advance(Concurrency.DEFAULT_MAX_HOLD);
            assertThat(held(app)).isZero();
            assertThat(app.counted("slots", "admitted")).isGreaterThan(REQUESTS / 2);
        }
    }

    private static long held(RunningApp app) {
        return PERMITS - app.bean(RateLimiter.class).inspect(SLOTS, "").get(0).remaining();
    }

    private static void request(RunningApp app, int n) throws IOException {
        if (n % RARE != 0) {
            try (Socket socket = app.client().begin("GET " + COMPLETE.get(n % COMPLETE.size()) + " HTTP/1.1")) {
                if (app.awaitAnswer(socket)) {
                    socket.getInputStream().readAllBytes();
                }
            }
        } else if (n % (10 * RARE) == 0) {
            try (Socket socket = app.client().begin("GET /never HTTP/1.1")) {
                app.awaitAnswer(socket);
            }
        } else {
            int kind = n / RARE;
            String path = ABORTED.get(kind % ABORTED.size());
            try (Socket socket = app.client().begin("GET " + path + " HTTP/1.1")) {
                socket.setSoLinger(true, 0);
                if (kind / ABORTED.size() % 2 == 0) {
                    app.awaitAnswer(socket);
                }
            }
        }
    }
}
