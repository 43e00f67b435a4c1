package dev.ratelimit.redis;

import static dev.ratelimit.redis.Scene.WIDE;
import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ratelimit.Decision;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.redis.server.TcpProxy;
import dev.ratelimit.remote.RemoteStoreFailure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server that crashes, never existed, or returns without its keys; and a network that drops bytes. */
@Tag("servers")
class OutageTest {

    private static final Policy FIVE = Policy.of("five", TokenBucket.of(Rate.parse("5/day")));

    @Started
    private static RedisServer server;

    private final Set<Thread> connectingBefore = connecting();

    @BeforeEach
    void restartServer() {
        server.restart();
    }

    @Test
    @DisplayName(
            "E1: killed: no error, one warning, no decision beyond the deadline, and Redis again after the restart")
    void kill_underTraffic_isDecidedHereAndRecovers() {
        try (Scene scene = new Scene(server.uri()).connected();
                Traffic traffic = new Traffic(scene.store, () -> WIDE.charge("k"))) {
            traffic.awaitRedis(40);
            int warnings = scene.events.warnings().size();

            server.kill();
            traffic.awaitHere(100);
            assertThat(scene.store.available()).isFalse();
            // one, unless a busy machine has just opened the breaker
            assertThat(scene.events.warnings()).hasSizeLessThanOrEqualTo(warnings + 1);
            server.restart();
            long restarted = System.nanoTime();
            Scene.awaitUntil(scene.store::available);
            Duration recovery = Duration.ofNanos(System.nanoTime() - restarted);
            traffic.awaitRedis(20);

            System.out.println("E1: recovery after " + recovery.toMillis() + " ms; " + traffic);
            assertThat(traffic.thrown()).isEmpty();
            assertThat(traffic.longest()).isLessThan(Traffic.HANGS);
            assertThat(scene.events.warnings()).last().asString().contains("again");
            // two open intervals where the machine has time for it, which the output says; here only that it does not
            // hang
            assertThat(recovery).isLessThan(Duration.ofSeconds(5));
        }
    }

    @Test
    void reset_whileTheServerIsDown_isNotCertain() {
        try (Scene scene = new Scene(server.uri()).connected()) {
            assertThat(scene.store.reset(FIVE, "k")).isTrue();

            server.kill();

            assertThat(scene.store.reset(FIVE, "k")).isFalse();
        }
    }

    @Test
    @DisplayName("E1: many outages leave one connection and no additional thread")
    void outages_many_leaveNoThreadsAndNoConnections() {
        try (Scene scene = new Scene(server.uri()).connected()) {
            // the first one starts permanent threads, of timers and of the client
            server.restart();
            scene.awaitRedis();
            Scene.awaitUntil(() -> connectingBefore.containsAll(connecting()));
            List<String> threads = threads();
            for (int i = 0; i < 12; i++) {
                server.restart();
                scene.awaitRedis();
            }

            Scene.awaitUntil(() -> threads().size() <= threads.size());
            // a replaced connection may still deliver replies for a second
            Scene.awaitUntil(() -> connections() == 2);
        }
        Scene.awaitUntil(() -> connections() == 1);
    }

    /** Including the one that asks. */
    private static long connections() {
        return server.ask(redis -> redis.clientList()).lines().count();
    }

    /** The names of all threads, except a fixed few that start late. */
    static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> !name.matches("(lettuce-|awaitility|process reaper|ratelimit-timer).*"))
                .sorted()
                .toList();
    }

    /** The threads that connect now: those of earlier tests may still wait for servers that never answer. */
    static Set<Thread> connecting() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("ratelimit-redis-connect"))
                .collect(Collectors.toSet());
    }

    @Test
    @DisplayName("E1: each policy has its choice: deny throws, allow admits without limits, local decides")
    void kill_policiesChoices_areKept() {
        try (Scene scene = new Scene(
                        server.uri(),
                        settings -> settings.onStoreFailure("deny", OnStoreFailure.DENY)
                                .onStoreFailure("allow", OnStoreFailure.ALLOW))
                .connected()) {
            server.kill();
            Policy deny = Policy.of("deny", TokenBucket.of(Rate.parse("5/day")));
            Policy allow = Policy.of("allow", TokenBucket.of(Rate.parse("5/day")));

            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(() -> scene.store.decide(List.of(FIVE.charge("k"), deny.charge("k"))))
                    .satisfies(e -> assertThat(e.policy()).isEqualTo("deny"));
            Decision allowed = scene.store.decide(List.of(allow.charge("k", 6)));
            assertThat(allowed.admitted()).isTrue();
            assertThat(allowed.limits()).isEmpty();
            Decision local = scene.store.decide(List.of(FIVE.charge("k", 5), allow.charge("k")));
            assertThat(local.admitted()).isTrue();
            assertThat(local.limits())
                    .singleElement()
                    .satisfies(status -> assertThat(status.remaining()).isZero());
            assertThat(scene.decide(FIVE, "k").admitted()).isFalse();
        } finally {
            server.restart();
        }
    }

    @Test
    @DisplayName("E5: a network that drops everything: the deadline holds, and another connection is tried immediately")
    void blackHole_underTraffic_deadlineHoldsAndConnectionIsReplaced() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(proxy.uri()).connected();
                Traffic traffic = new Traffic(scene.store, () -> WIDE.charge("k"))) {
            traffic.awaitRedis(20);
            long connections = proxy.accepted();

            proxy.blackHole(true);
            long start = System.nanoTime();
            Scene.awaitUntil(() -> proxy.accepted() > connections);
            Duration replaced = Duration.ofNanos(System.nanoTime() - start);
            traffic.awaitHere(100);
            proxy.blackHole(false);
            traffic.awaitRedis(20);

            System.out.println("E5: another connection after " + replaced.toMillis() + " ms; " + traffic);
            assertThat(replaced).isLessThan(Duration.ofSeconds(10));
            assertThat(traffic.thrown()).isEmpty();
            assertThat(traffic.longest()).isLessThan(Traffic.HANGS);
            assertThat(scene.events.failures(RemoteStoreFailure.SATURATED)).isZero();
            Scene.awaitUntil(() -> proxy.connections() == 1 && connectingBefore.containsAll(connecting()));
        }
    }

    @Test
    @DisplayName("E6: a connection cut within a reply: each later reply belongs to its own request")
    void cut_withinReply_repliesBelongToTheirRequests() {
        List<Policy> policies = IntStream.range(0, 1000)
                .mapToObj(i -> Policy.of("p" + i, FixedWindow.of(Rate.of(1000 + i, Duration.ofDays(1)))))
                .toList();
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(proxy.uri()).connected()) {
            for (int bytes : new int[] {3, 40, 301}) {
                proxy.cutAfter(bytes);
                AtomicInteger next = new AtomicInteger();
                Queue<Decision> foreign = new ConcurrentLinkedQueue<>();
                inThreads(() -> {
                    int at = next.getAndIncrement() % policies.size();
                    Policy policy = policies.get(at);
                    Decision decision = scene.decide(policy, "cut" + bytes + next.get());
                    if (Scene.byRedis(decision) && decision.limits().get(0).remaining() != 999 + at) {
                        foreign.add(decision);
                    }
                    return Scene.byRedis(decision);
                });
                assertThat(foreign).isEmpty();
            }
            assertThat(proxy.accepted()).isGreaterThanOrEqualTo(4);
        }
    }

    /** Until Redis has made a thousand decisions. */
    private static void inThreads(Callable<Boolean> byRedis) {
        AtomicInteger decided = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                try {
                    while (decided.get() < 1000) {
                        decided.addAndGet(byRedis.call() ? 1 : 0);
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            thread.start();
            threads.add(thread);
        }
        Scene.awaitUntil(() -> threads.stream().noneMatch(Thread::isAlive));
    }

    @Test
    @DisplayName("E7: back without its keys: at most one more budget, and none from memory in the meantime")
    void restart_keysLost_admitsAtMostOneMoreBudget() {
        try (Scene scene = new Scene(server.uri(), settings -> settings.deadline(Duration.ofSeconds(10))).connected()) {
            assertThat(admitted(scene, 20)).isEqualTo(5);

            server.kill();
            // a key exhausted in Redis is exhausted here
            assertThat(admitted(scene, 20)).isZero();
            server.restart();
            scene.awaitRedis();

            assertThat(admitted(scene, 20)).isBetween(1, 5);
        }
    }

    @Test
    @DisplayName("E8: FLUSHALL: at most one more budget")
    void flushall_admitsOneMoreBudget() {
        try (Scene scene = new Scene(server.uri(), settings -> settings.deadline(Duration.ofSeconds(10))).connected()) {
            assertThat(admitted(scene, 20)).isEqualTo(5);

            server.ask(redis -> redis.flushall());

            assertThat(admitted(scene, 20)).isEqualTo(5);
            assertThat(scene.events.failures()).isZero();
        }
    }

    private static int admitted(Scene scene, int requests) {
        int admitted = 0;
        for (int i = 0; i < requests; i++) {
            admitted += scene.decide(FIVE, "k").admitted() ? 1 : 0;
        }
        return admitted;
    }

    @Test
    @DisplayName(
            "E21: missing at the start: decided locally from the first request, and exact as soon as Redis is available")
    void start_withoutServer_decidesHereUntilItComes() {
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            proxy.refuse(true);
            try (Scene scene = new Scene(proxy.uri())) {
                assertThat(scene.decide(WIDE, "k").admitted()).isTrue();
                assertThat(scene.events.failures()).isEqualTo(1);
                assertThat(admitted(scene, 30)).isEqualTo(5);
                assertThat(scene.store.available()).isFalse();

                proxy.refuse(false);
                scene.awaitRedis();

                assertThat(admitted(scene, 30)).isEqualTo(5);
                assertThat(scene.events.warnings()).hasSize(2);
            }
        }
    }

    @Test
    @DisplayName("the parts of a cost that took a whole share refund no more than was taken")
    void refund_partsOfCostBeyondTheShare_giveBackTheirPartOfTheShare() {
        Policy hundred = Policy.of("hundred", FixedWindow.of(Rate.parse("100/day")));
        try (Scene scene = new Scene(server.uri(), settings -> settings.localShare(0.1)).connected()) {
            server.kill();
            Decision decision = scene.store.decide(List.of(hundred.charge("k", 50)));
            assertThat(decision.limits().get(0).remaining()).isZero();

            scene.store.refund(decision, List.of(hundred.charge("k", 14)));

            assertThat(scene.store.peek(List.of(hundred.charge("k")))).hasRemaining(2);
            scene.store.refund(decision, List.of(hundred.charge("k", 36)));
            assertThat(scene.store.peek(List.of(hundred.charge("k")))).hasRemaining(9);
        } finally {
            server.restart();
        }
    }

    @Test
    void close_thenAsked_decidesHereAndDoesNotConnect() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(proxy.uri()).connected()) {
            scene.store.close();
            scene.store.close();
            Scene.awaitUntil(() -> proxy.connections() == 0);
            long connections = proxy.accepted();

            assertThat(admitted(scene, 30)).isEqualTo(5);
            assertThat(scene.events.failures(RemoteStoreFailure.CONNECTION)).isPositive();
            assertThat(proxy.accepted()).isEqualTo(connections);
        }
    }

    @Test
    void close_twiceAndThenAsked_logsNothing() {
        try (Warnings client = new Warnings("io.lettuce");
                TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(proxy.uri()).connected()) {
            scene.store.close();
            scene.store.close();
            Scene.awaitUntil(() -> {
                admitted(scene, 30);
                return !scene.store.available();
            });

            assertThat(scene.events.warnings()).isEmpty();
            assertThat(client.messages()).isEmpty();
        }
    }
}
