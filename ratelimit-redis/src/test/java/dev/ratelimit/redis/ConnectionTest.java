package dev.ratelimit.redis;

import static dev.ratelimit.redis.Scene.WIDE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Scheduler;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.redis.server.TcpProxy;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.test.FakeTicker;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.TimeoutOptions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When a connection is opened, replaced or kept. */
@Tag("servers")
class ConnectionTest {

    private static final Duration LONG_DEADLINE = Duration.ofMillis(400);

    @Started
    private static RedisServer server;

    @Test
    @DisplayName("Redis makes the first decision of a new store")
    void build_serverIsThere_firstDecisionIsByRedis() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(proxy.uri(), settings -> settings.deadline(Duration.ofSeconds(5)))) {
            assertThat(proxy.accepted()).isEqualTo(1);

            assertThat(Scene.byRedis(scene.decide(WIDE, "first"))).isTrue();
            assertThat(scene.events.warnings()).isEmpty();
        }
    }

    @Test
    @DisplayName("E21: a network that drops everything delays the start by at most two seconds")
    void build_blackHole_startsSoonAndSaysSo() {
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            proxy.blackHole(true);
            long start = System.nanoTime();
            try (Scene scene = new Scene(proxy.uri())) {
                long took = System.nanoTime() - start;

                assertThat(Duration.ofNanos(took)).isLessThan(Duration.ofSeconds(5));
                assertThat(scene.events.warnings()).isEmpty();
                Scene.awaitUntil(() -> scene.decide(WIDE, "k").admitted() && !scene.store.available());
                assertThat(scene.events.warnings()).singleElement().asString().contains("has not been reached yet");
            }
        }
    }

    @Test
    @DisplayName("a connection that died silently costs one request, however rare requests are")
    void deadConnection_afterSilence_isReplacedAtTheFirstTimeout() {
        FakeTicker time = new FakeTicker();
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(
                        proxy.uri(),
                        settings -> settings.ticker(time).failures(20).deadline(LONG_DEADLINE))) {
            Scene.awaitUntil(() -> Scene.byRedis(scene.decide(WIDE, "k")));
            int timeouts = scene.events.failures(RemoteStoreFailure.TIMEOUT);
            proxy.forget();
            time.advance(Duration.ofMinutes(10));

            assertThat(Scene.byRedis(scene.decide(WIDE, "k"))).isFalse();
            Scene.awaitUntil(() -> proxy.accepted() == 2);
            Scene.awaitUntil(() -> Scene.byRedis(scene.decide(WIDE, "k")));

            assertThat(scene.store.available()).isTrue();
            // the second one, if the new connection arrived just too late
            assertThat(scene.events.failures(RemoteStoreFailure.TIMEOUT) - timeouts)
                    .isBetween(1, 3);
        }
    }

    @Test
    @DisplayName("a single late answer does not replace a healthy connection")
    void lateAnswer_amongOthers_leavesTheConnection() {
        FakeTicker time = new FakeTicker();
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(
                        proxy.uri(),
                        settings -> settings.ticker(time).failures(20).deadline(LONG_DEADLINE))) {
            Scene.awaitUntil(() -> Scene.byRedis(scene.decide(WIDE, "k")));
            time.advance(Duration.ofMillis(900));
            proxy.delay(Duration.ofMillis(800));
            assertThat(Scene.byRedis(scene.decide(WIDE, "k"))).isFalse();
            proxy.delay(Duration.ZERO);

            Scene.awaitUntil(() -> Scene.byRedis(scene.decide(WIDE, "k")));
            assertThat(proxy.accepted()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("the connection to a server that answers with errors is kept")
    void serverFails_connectionIsWell_isNotReplaced() {
        FakeTicker time = new FakeTicker();
        Script failure = Script.of("return redis.error_reply('OOM command not allowed')");
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(
                        proxy.uri(),
                        settings -> settings.ticker(time)
                                .failures(2)
                                .deadline(Duration.ofSeconds(5))
                                .edition(script -> failure))) {
            Scene.awaitUntil(() -> {
                scene.decide(WIDE, "k");
                time.advance(Scene.OPEN_FOR.multipliedBy(2));
                return scene.events.failures(RedisStoreFailure.OOM) > 10;
            });

            assertThat(scene.store.available()).isFalse();
            assertThat(proxy.accepted()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("one server: a connection that the server closes costs at most one decision")
    void serverClosesConnection_isMadeAnew() {
        try (Scene scene = new Scene(server.uri(), settings -> settings.deadline(Duration.ofSeconds(5))).connected()) {
            for (int round = 0; round < 50; round++) {
                server.ask(
                        redis -> redis.clientKill(KillArgs.Builder.typeNormal().skipme(true)));
                int here = 0;
                for (int i = 0; i < 20; i++) {
                    here += Scene.byRedis(scene.decide(WIDE, "k")) ? 0 : 1;
                }
                assertThat(here).isLessThanOrEqualTo(1);
            }
            assertThat(scene.events.changes()).isZero();
        }
    }

    @Test
    @DisplayName("hanging connection attempts do not pile up, and one that succeeds late is used")
    void connect_hangs_attemptsAreFewAndTheLateOneIsTaken() {
        AtomicInteger attempts = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        try (Gate gate = new Gate(server, attempts)) {
            Link link = new Link(gate, Topology.ANY, live -> {}, Scheduler.system(), attempt -> {
                Thread thread = new Thread(() -> {
                    attempt.run();
                    ended.incrementAndGet();
                });
                thread.setDaemon(true);
                thread.start();
            });
            for (int i = 0; i < 50; i++) {
                link.replace();
                gate.giveUp(link);
            }
            assertThat(attempts.get()).isLessThanOrEqualTo(3);

            gate.open();

            Scene.awaitUntil(() -> connected(link));
            assertThat(link.live().join().isOpen()).isTrue();
            Scene.awaitUntil(() -> ended.get() == attempts.get());
            link.close();
        }
    }

    private static boolean connected(Link link) {
        return link.live().isDone() && !link.live().isCompletedExceptionally();
    }

    @Test
    @DisplayName("a thread that cannot be started fails one attempt, and the next one connects")
    void connect_threadCannotBeStarted_isTriedAgain() {
        AtomicInteger attempts = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        try (Gate gate = new Gate(server, attempts)) {
            gate.open();
            Link link = new Link(gate, Topology.ANY, live -> {}, Scheduler.system(), attempt -> {
                if (refused.getAndIncrement() < 10) {
                    throw new OutOfMemoryError("unable to create native thread");
                }
                attempt.run();
            });

            for (int i = 0; i < 10; i++) {
                assertThat(link.live()).isCompletedExceptionally();
            }

            assertThat(connected(link)).isTrue();
            assertThat(attempts).hasValue(1);
            link.close();
        }
    }

    @Test
    @DisplayName(
            "after any exception on the way to Redis, the request no longer counts as in flight, and memory decides")
    void decide_errorOnTheWay_releasesThePlace() {
        AtomicInteger thrown = new AtomicInteger();
        try (Scene scene = new Scene(
                server.uri(),
                settings -> settings.maxInFlight(1)
                        .failures(20)
                        .deadline(Duration.ofSeconds(5))
                        .edition(script -> {
                            if (thrown.getAndIncrement() % 2 == 1) {
                                throw new StackOverflowError("deep");
                            }
                            return script;
                        }))) {
            Charge charge = WIDE.charge("k");
            for (int i = 0; i < 30; i++) {
                assertThat(scene.store.decide(List.of(charge)).admitted()).isTrue();
            }

            assertThat(scene.events.failures(RemoteStoreFailure.SATURATED)).isZero();
            assertThat(scene.events.failures(RemoteStoreFailure.STALLED)).isBetween(14, 16);
            assertThat(scene.store.available()).isTrue();
        }
    }

    @Test
    @DisplayName("whoever learns that a command could not be composed may send the next one: replies stay in step")
    void decideAsync_nextOneAsSoonAsOneCannotBeComposed_repliesStayInStep() {
        AtomicBoolean failing = new AtomicBoolean();
        CountDownLatch nextOneFollows = new CountDownLatch(1);
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(
                        proxy.uri(),
                        settings -> settings.deadline(Duration.ofSeconds(20))
                                .executor(Runnable::run)
                                .edition(script -> {
                                    if (failing.compareAndSet(true, false)) {
                                        Scene.awaitUntil(() -> nextOneFollows.getCount() == 0);
                                        throw new IllegalStateException("cannot compose");
                                    }
                                    return script;
                                }))) {
            List<Charge> charges = List.of(WIDE.charge("k"));
            failing.set(true);
            CompletableFuture<Boolean> next = scene.store
                    .decideAsync(charges)
                    .thenCompose(local -> scene.store.decideAsync(charges))
                    .thenApply(Scene::byRedis)
                    .toCompletableFuture();
            nextOneFollows.countDown();

            assertThat(next.join()).isTrue();
            assertThat(Scene.byRedis(scene.decide(WIDE, "k"))).isTrue();
            assertThat(scene.events.failures(RemoteStoreFailure.STALLED)).isEqualTo(1);
            assertThat(proxy.accepted()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName(
            "a command that the client gives up while it is composed fails afterwards: what it asks is known by then")
    void send_timesOutWhileItIsComposed_failsAfterwards() throws InterruptedException {
        RedisClient client = RedisClient.create(server.uri());
        client.setOptions(ClientOptions.builder()
                .timeoutOptions(TimeoutOptions.enabled(Duration.ofMillis(20)))
                .build());
        try {
            LettuceConnection connection = new LettuceConnection("", client.connect(LettuceConnection.CODEC));
            AtomicReference<@Nullable CompletableFuture<long[]>> reply = new AtomicReference<>();
            BlockingQueue<Boolean> failedMeanwhile = new ArrayBlockingQueue<>(1);
            reply.set(connection.send(
                    () -> {
                        LockSupport.parkNanos(200_000_000);
                        failedMeanwhile.add(Objects.requireNonNull(reply.get()).isDone());
                        return null;
                    },
                    false));

            assertThat(failedMeanwhile.poll(20, TimeUnit.SECONDS)).isFalse();
            Scene.awaitUntil(() -> Objects.requireNonNull(reply.get()).isCompletedExceptionally());
        } finally {
            client.shutdown(0, 0, TimeUnit.SECONDS);
        }
    }
}
