package dev.ratelimit.redis;

import static dev.ratelimit.redis.Scene.WIDE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.redis.server.TcpProxy;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.test.FakeTicker;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server that is stopped, busy, or far away. */
@Tag("servers")
@Tag("slow")
class SlowServerTest {

    /** So long that a busy machine is not mistaken for a slow server. */
    private static final Duration LONG_DEADLINE = Duration.ofMillis(400);

    @Started({"--lua-time-limit", "100"})
    private static RedisServer server;

    @BeforeEach
    void restartServer() {
        server.restart();
    }

    @Test
    @DisplayName("E2 E3: stopped for 3 s, or 30 s in the long form: few decisions wait, none is charged twice")
    void pause_underTraffic_fewWaitAndNothingIsChargedTwice() {
        Duration pause = Duration.ofSeconds(Scene.LONG ? 30 : 3);
        try (Scene scene = new Scene(server.uri()).connected();
                Traffic traffic = new Traffic(scene.store, () -> WIDE.charge("k"))) {
            traffic.awaitRedis(40);
            int waitedBefore = scene.events.failures(RemoteStoreFailure.TIMEOUT);
            List<String> threads = OutageTest.threads();
            Set<Thread> connecting = OutageTest.connecting();

            long start = System.nanoTime();
            server.pause();
            traffic.goOn(pause);
            List<String> mostThreads = OutageTest.threads();
            Set<Thread> mostConnecting = OutageTest.connecting();
            mostConnecting.removeAll(connecting);
            int waited = scene.events.failures(RemoteStoreFailure.TIMEOUT) - waitedBefore;
            long probes = (System.nanoTime() - start) / Scene.SHORTEST_OPEN.toNanos() + 1;
            server.resume();
            traffic.awaitRedis(40);
            traffic.end();

            System.out.println("E2: " + waited + " decisions waited, of them up to " + probes + " probes; threads "
                    + threads + ", then " + mostThreads + "; " + traffic);
            assertThat(traffic.thrown()).isEmpty();
            assertThat(traffic.longest()).isLessThan(Traffic.HANGS);
            // half of the last 20 open the breaker; requests in flight also wait
            assertThat(waited).isLessThanOrEqualTo((int) (10 + Traffic.THREADS + probes));
            // the maximum in flight
            assertThat(mostConnecting).hasSizeLessThanOrEqualTo(3);
            assertThat(mostThreads).hasSizeLessThanOrEqualTo(threads.size() + 3);
            assertNothingIsChargedTwice(scene, traffic);
        }
    }

    private static void assertNothingIsChargedTwice(Scene scene, Traffic traffic) {
        scene.awaitRedis();
        long remaining =
                scene.store.peek(List.of(WIDE.charge("k"))).limits().get(0).remaining();
        long used = WIDE.limits().get(0).capacity() - remaining;
        // requests that timed out may have been charged once
        int late = scene.events.failures(RemoteStoreFailure.TIMEOUT)
                + scene.events.failures(RemoteStoreFailure.CONNECTION);
        assertThat(used).isBetween((long) traffic.byRedis(), (long) traffic.byRedis() + late);
    }

    @Test
    @DisplayName("E4: a delay below the deadline is waited for")
    void delay_belowDeadline_isDecidedByRedis() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = distant(proxy);
                Traffic traffic = new Traffic(scene.store, () -> WIDE.charge("k"))) {
            traffic.awaitRedis(10);
            int failures = scene.events.failures();

            proxy.delay(Duration.ofMillis(100));
            traffic.awaitRedis(40);

            assertThat(scene.events.failures() - failures).isZero();
            assertThat(scene.store.available()).isTrue();
        }
    }

    @Test
    @DisplayName("E4: a delay beyond the deadline opens the breaker, and one around it at most once per open interval")
    void delay_beyondDeadline_opensBreakerOnceAnInterval() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = distant(proxy);
                Traffic traffic = new Traffic(scene.store, () -> WIDE.charge("k"))) {
            traffic.awaitRedis(10);

            long start = System.nanoTime();
            proxy.delay(Duration.ofMillis(800));
            Scene.awaitUntil(() -> !scene.store.available());
            for (int i = 0; i < 8; i++) {
                proxy.delay(i % 2 == 0 ? Duration.ZERO : Duration.ofMillis(800));
                traffic.goOn(Duration.ofMillis(150));
            }
            long intervals = (System.nanoTime() - start) / Scene.SHORTEST_OPEN.toNanos() + 1;

            assertThat(scene.events.changes()).isPositive();
            assertThat((scene.events.changes() + 1L) / 2).isLessThanOrEqualTo(intervals);
            assertThat(traffic.thrown()).isEmpty();
        }
    }

    private static Scene distant(TcpProxy proxy) {
        return new Scene(proxy.uri(), settings -> settings.deadline(LONG_DEADLINE)).connected();
    }

    @Test
    @DisplayName("E13: busy with a long script: like a slow server, and recovery when it ends")
    void longScript_isDecidedHereUntilItEnds() {
        RedisClient other = RedisClient.create(server.uri());
        try (Scene scene = new Scene(server.uri()).connected();
                Traffic traffic = new Traffic(scene.store, () -> WIDE.charge("k"))) {
            traffic.awaitRedis(20);

            var busy = other.connect()
                    .async()
                    .eval(
                            "local t = redis.call('TIME') local n = 0 "
                                    + "repeat n = n + 1 local u = redis.call('TIME') "
                                    + "until (u[1] - t[1]) * 1000000 + u[2] - t[2] > 1500000 return n",
                            ScriptOutputType.INTEGER);
            traffic.awaitHere(60);
            Scene.awaitUntil(busy::isDone);
            traffic.awaitRedis(20);

            System.out.println("E13: " + scene.events);
            assertThat(traffic.thrown()).isEmpty();
            assertThat(traffic.longest()).isLessThan(Traffic.HANGS);
            assertThat(scene.events.failures(RemoteStoreFailure.TIMEOUT)
                            + scene.events.failures(RedisStoreFailure.BUSY))
                    .isPositive();
            assertThat(scene.events.failures(RemoteStoreFailure.ERROR)).isZero();
        } finally {
            other.shutdown(0, 0, TimeUnit.SECONDS);
        }
    }

    @Test
    @DisplayName("while a server fails, none of 500 requests at once is sent to it, and it is used again without any")
    void open_manyRequests_noneProbes() throws InterruptedException {
        FakeTicker time = new FakeTicker();
        try (Scene scene = new Scene(
                server.uri(),
                settings -> settings.ticker(time).deadline(LONG_DEADLINE).failures(2))) {
            awaitRedis(scene, time);
            server.pause();
            Scene.awaitUntil(() -> {
                scene.decide(WIDE, "k");
                return !scene.store.available();
            });

            int open = scene.events.failures(RemoteStoreFailure.OPEN);
            int all = scene.events.failures();
            time.advance(Scene.OPEN_FOR.multipliedBy(2));
            atOnce(500, () -> scene.decide(WIDE, "k"));
            assertThat(scene.events.failures(RemoteStoreFailure.OPEN) - open).isEqualTo(500);
            assertThat(scene.events.failures() - all).isEqualTo(500);

            server.resume();
            Scene.awaitUntil(() -> {
                time.advance(Scene.OPEN_FOR);
                return scene.store.available();
            });
        } finally {
            server.resume();
        }
    }

    /** Like {@link Scene#awaitRedis}, with a fake clock. */
    private static void awaitRedis(Scene scene, FakeTicker time) {
        Scene.awaitUntil(() -> {
            time.advance(Scene.OPEN_FOR);
            return Scene.byRedis(scene.decide(WIDE, "k")) && scene.store.available();
        });
    }

    private static void atOnce(int requests, Runnable request) throws InterruptedException {
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            Thread thread = new Thread(() -> {
                try {
                    start.await();
                    request.run();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            thread.start();
            threads.add(thread);
        }
        start.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Test
    void maxInFlight_reached_othersFailAtOnceAndPlacesComeBack() throws InterruptedException {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(
                                proxy.uri(),
                                settings -> settings.maxInFlight(4).failures(20).deadline(LONG_DEADLINE))
                        .connected()) {
            proxy.delay(Duration.ofMillis(100));
            for (int round = 0; round < 5; round++) {
                int saturated = scene.events.failures(RemoteStoreFailure.SATURATED);
                AtomicInteger byRedis = new AtomicInteger();
                atOnce(12, () -> {
                    Decision decision = scene.decide(WIDE, "k");
                    byRedis.addAndGet(Scene.byRedis(decision) ? 1 : 0);
                });
                assertThat(byRedis.get() + scene.events.failures(RemoteStoreFailure.SATURATED) - saturated)
                        .isEqualTo(12);
                assertThat(byRedis.get()).isGreaterThanOrEqualTo(4);
            }
            assertThat(scene.store.available()).isTrue();
        }
    }
}
