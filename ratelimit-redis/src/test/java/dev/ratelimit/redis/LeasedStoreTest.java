package dev.ratelimit.redis;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.redis.server.TcpProxy;
import dev.ratelimit.test.FakeTicker;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Leases: charged in advance, spent locally, refunded. The server's clock is real, so almost nothing refills during a
 * test.
 */
@Tag("servers")
class LeasedStoreTest {

    private static final Policy GLOBAL = Policy.of("global", TokenBucket.of(Rate.of(100_000, Duration.ofDays(10_000))));
    private static final int CAPACITY = 100_000;

    @Started
    private static RedisServer server;

    private static RedisClient client;
    private static RedisStore exact;

    private final FakeTicker ticker = new FakeTicker();
    private final RedisStore leased = store();

    @BeforeAll
    static void createClients() {
        client = server.newClient();
        exact = RedisStore.builder(server.newClient())
                .onStoreFailure(OnStoreFailure.DENY)
                .deadline(Duration.ofSeconds(20))
                .build();
    }

    private RedisStore store() {
        return RedisStore.builder(client)
                .ticker(ticker)
                .deadline(Duration.ofSeconds(20))
                .onStoreFailure(OnStoreFailure.DENY)
                .leased(0.1, Duration.ofSeconds(1))
                .build();
    }

    private static long remaining(String key) {
        return exact.peek(List.of(GLOBAL.charge(key))).limits().get(0).remaining();
    }

    private static long commands() {
        String stats = server.ask(redis -> redis.info("commandstats"));
        return stats.lines()
                .filter(line -> line.startsWith("cmdstat_evalsha:"))
                .mapToLong(line -> Long.parseLong(line.replaceFirst(".*calls=(\\d+),.*", "$1")))
                .sum();
    }

    @Test
    void decide_hotKey_takesFewRoundTrips() {
        long before = commands();

        for (int i = 0; i < 20_000; i++) {
            assertThat(leased.decide(List.of(GLOBAL.charge("hot")))).isAdmitted();
        }

        assertThat(commands() - before).isLessThan(2_000);
        leased.close();
        assertThat(remaining("hot")).isEqualTo(CAPACITY - 20_000);
    }

    /** Asks until charges are spent from leases. */
    private void warm(Policy policy, String key) {
        for (int i = 0; i < 1000; i++) {
            leased.decide(List.of(policy.charge(key)));
        }
        // a connection answers in order: after this answer, no lease is in flight
        leased.peek(List.of(policy.charge(key)));
    }

    @Test
    void decide_rarelyAskedKey_takesNoLease() {
        for (int i = 0; i < 5; i++) {
            leased.decide(List.of(GLOBAL.charge("rare")));
        }

        assertThat(remaining("rare")).isEqualTo(CAPACITY - 5);
    }

    @Test
    void decide_penalty_takesNoLease() {
        Policy policy = GLOBAL.withPenalty(Duration.ofMinutes(1));

        warm(policy, "penalized");

        assertThat(remaining("penalized")).isEqualTo(CAPACITY - 1000);
    }

    @Test
    void decide_smallLimit_isExact() {
        Policy small = Policy.of("small", TokenBucket.of(Rate.parse("99/day")));
        for (int i = 0; i < 50; i++) {
            leased.decide(List.of(small.charge("k")));
        }

        assertThat(exact.peek(List.of(small.charge("k")))).hasRemaining(49);
    }

    @Test
    void decide_leasedAndExactPolicies_areAllOrNothing() {
        Policy few = Policy.of("few", TokenBucket.of(Rate.parse("3/day")));
        warm(GLOBAL, "both");
        int admitted = 0;
        for (int i = 0; i < 500; i++) {
            admitted += leased.decide(List.of(GLOBAL.charge("both"), few.charge("u")))
                            .admitted()
                    ? 1
                    : 0;
        }

        assertThat(admitted).isEqualTo(3);
        leased.close();
        assertThat(remaining("both")).isEqualTo(CAPACITY - 1003);
    }

    @Test
    void refund_paidFromLease_comesBack() {
        Policy window = Policy.of("window", FixedWindow.of(Rate.of(CAPACITY, Duration.ofDays(1))));
        for (Policy policy : List.of(GLOBAL, window)) {
            warm(policy, "refund");
            Decision decision = leased.decide(List.of(policy.charge("refund", 20)));

            leased.refund(decision);
        }

        leased.close();
        assertThat(remaining("refund")).isEqualTo(CAPACITY - 1000);
        assertThat(exact.peek(List.of(window.charge("refund")))).hasRemaining(CAPACITY - 1000);
    }

    @Test
    @DisplayName("a charge spent from a lease returns to that lease if a server charges the rest in the next window")
    void refund_paidFromLeaseOfLastWindow_nextWindowStaysAsCharged() {
        Policy minute = Policy.of("minute", FixedWindow.onClock(Rate.parse("10000/minute"), ZoneOffset.UTC));
        Policy few = Policy.of("few", TokenBucket.of(Rate.parse("3/day")));
        try (StatefulRedisConnection<String, String> control = client.connect();
                Scene scene = new Scene(
                        server.uri(),
                        settings -> settings.ticker(ticker)
                                .edition(FakeClock::inScript)
                                .deadline(Duration.ofSeconds(20))
                                .leased(0.1, Duration.ofSeconds(1)))) {
            long noon = 1_800_000_000_000_000L;
            set(control, noon - 1);
            for (int i = 0; i < 200; i++) {
                scene.decide(minute, "k");
            }
            scene.store.peek(List.of(minute.charge("k")));
            set(control, noon + 1);
            Decision decision = scene.store.decide(List.of(minute.charge("k"), few.charge("u")));
            Charge direct = minute.charge("k", 5000);
            assertThat(scene.store.decide(List.of(direct))).isAdmitted();
            long left = scene.store.peek(List.of(direct)).limits().get(0).remaining();

            scene.store.refund(decision);

            assertThat(scene.store.peek(List.of(direct, few.charge("u")))).hasRemaining(left, 3);
        }
    }

    private static void set(StatefulRedisConnection<String, String> control, long micros) {
        control.sync()
                .mset(Map.of(
                        "clock:{b}:seconds", Long.toString(micros / 1_000_000),
                        "clock:{b}:micros", Long.toString(micros % 1_000_000)));
    }

    @Test
    void reset_leasedKey_isFullAgain() {
        warm(GLOBAL, "reset");

        leased.reset(GLOBAL, "reset");

        leased.close();
        assertThat(remaining("reset")).isEqualTo(CAPACITY);
    }

    @Test
    void reset_thatFindsNoPlace_givesLeasesBack() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(
                                proxy.uri(),
                                settings -> settings.deadline(Duration.ofSeconds(20))
                                        .maxInFlight(1)
                                        .leased(0.1, Duration.ofMinutes(1)))
                        .connected()) {
            long admitted = IntStream.range(0, 1000)
                    .filter(i -> Scene.byRedis(scene.decide(GLOBAL, "in vain")))
                    .count();
            assertThat(remaining("in vain")).isLessThan(CAPACITY - admitted);
            proxy.delay(Duration.ofSeconds(1));
            CompletableFuture<?> busy = CompletableFuture.runAsync(() -> scene.decide(GLOBAL, "other"));
            await().until(() -> !Scene.byRedis(scene.decide(GLOBAL, "another")));

            assertThat(scene.store.reset(GLOBAL, "in vain")).isFalse();

            proxy.delay(Duration.ZERO);
            busy.join();
            await().untilAsserted(() -> assertThat(remaining("in vain")).isEqualTo(CAPACITY - admitted));
        }
    }

    @Test
    @DisplayName("H2: unspent permits are refunded when their lease ends, without further requests")
    void lease_expires_goesBack() {
        warm(GLOBAL, "idle");
        assertThat(remaining("idle")).isLessThan(CAPACITY - 1000);

        // in small steps, as time passes: a late refund omits what has refilled
        for (int i = 0; i < 8; i++) {
            ticker.advance(Duration.ofMillis(250));
        }

        await().untilAsserted(() -> assertThat(remaining("idle")).isEqualTo(CAPACITY - 1000));
    }

    @Test
    @DisplayName("E23: a lease is not spent after its end, however long the process paused")
    void lease_processStoodStill_isNotSpent() {
        List<LimitStatus> statuses =
                exact.decide(List.of(GLOBAL.charge("still", 100))).limits();
        Lease lease = new Lease(GLOBAL.charge("still", 100), statuses, 0, 0, 1_000_000_000);

        assertThat(lease.spend(1, 999_999_999)).isTrue();
        assertThat(lease.spend(1, 1_000_000_000)).isFalse();
    }

    @Test
    @DisplayName("E23: a process that paused does not refund what has refilled in the meantime")
    void lease_processStoodStill_givesBackWhatHasNotRefilled() {
        Policy policy = Policy.of("refilling", TokenBucket.of(Rate.parse("6000/minute"), 7000));
        List<LimitStatus> statuses =
                exact.decide(List.of(policy.charge("still", 100))).limits();
        long second = Duration.ofSeconds(1).toNanos();

        assertThat(new Lease(policy.charge("still", 100), statuses, 0, 0, second / 2).end(second / 2, new AtomicLong()))
                .isEqualTo(policy.charge("still", 100));
        assertThat(new Lease(policy.charge("still", 100), statuses, 0, 0, second / 2).end(second, new AtomicLong()))
                .isEqualTo(policy.charge("still", 50));
        assertThat(new Lease(policy.charge("still", 100), statuses, 0, 0, second / 2)
                        .end(60 * second, new AtomicLong()))
                .isNull();
    }

    @Test
    void lease_endsLate_deductsOnlyWholePermitsThatHaveRefilled() {
        Policy policy = Policy.of("slow", TokenBucket.of(Rate.parse("1/second"), 1000));
        AtomicLong overdue = new AtomicLong();
        long givenBack = 0;
        for (int i = 0; i < 10; i++) {
            givenBack += late(policy, Duration.ofMillis(250), overdue).permits();
        }

        // 2.5 s late in total
        assertThat(givenBack).isEqualTo(10 * 100 - 2);
        assertThat(overdue).hasValue(Duration.ofMillis(500).toNanos());
    }

    @Test
    void lease_ofWindowOrLogEndsLate_givesAllBack() {
        Rate fast = Rate.parse("1000/second");
        for (Limit limit : List.of(FixedWindow.of(fast), SlidingWindow.of(fast), SlidingLog.of(fast))) {
            assertThat(late(Policy.of("fast", limit), Duration.ofMinutes(1), new AtomicLong())
                            .permits())
                    .isEqualTo(100);
        }
    }

    /** What a lease of 100 permits refunds when it ends this late. */
    private static Charge late(Policy policy, Duration late, AtomicLong overdue) {
        LimitStatus status = new LimitStatus(policy.charge("k"), policy.limits().get(0), 900, 0, 1, 100_000);
        Lease lease = new Lease(policy.charge("k", 100), List.of(status), 0, 0, 1000);
        return Objects.requireNonNull(lease.end(1000 + late.toNanos(), overdue));
    }

    @Test
    @DisplayName(
            "H2: leases are refunded when the store is closed, even if that takes longer than the deadline of decisions")
    void close_farServer_givesLeasesBack() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(
                                proxy.uri(),
                                settings -> settings.deadline(Duration.ofMillis(300))
                                        .leased(0.1, Duration.ofMinutes(1)))
                        .connected()) {
            int admitted = 0;
            for (int i = 0; i < 1000; i++) {
                admitted += Scene.byRedis(scene.decide(GLOBAL, "far")) ? 1 : 0;
            }
            assertThat(remaining("far")).isLessThan(CAPACITY - admitted);
            proxy.delay(Duration.ofMillis(600));

            scene.store.close();

            assertThat(remaining("far")).isBetween(CAPACITY - 1000L, (long) CAPACITY - admitted);
        }
    }

    @Test
    @DisplayName("H2: a lease that is in flight when the store is closed is refunded")
    void close_leaseOnItsWay_givesItBack() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(
                                proxy.uri(),
                                settings -> settings.deadline(Duration.ofSeconds(20))
                                        .leased(0.1, Duration.ofMinutes(1)))
                        .connected()) {
            proxy.delay(Duration.ofMillis(50));
            // the eighth request asks for a lease
            for (int i = 0; i < 8; i++) {
                scene.decide(GLOBAL, "soon");
            }

            scene.store.close();

            assertThat(remaining("soon")).isEqualTo(CAPACITY - 8);
        }
    }

    @Test
    void lease_ofWindow_endsWithIt() {
        Policy window = Policy.of("window", FixedWindow.of(Rate.parse("1000/300ms")));
        Decision first = exact.decide(List.of(window.charge("k", 100)));
        Lease lease = new Lease(
                window.charge("k", 100),
                first.limits(),
                0,
                0,
                Duration.ofSeconds(1).toNanos());

        assertThat(lease.expired(Duration.ofMillis(299).toNanos()
                        - Duration.ofMillis(100).toNanos()))
                .isFalse();
        assertThat(lease.expired(Duration.ofMillis(300).toNanos())).isTrue();
    }

    @Test
    @DisplayName("E23: instances together never spend more than the limit, one of them killed with its leases")
    void decide_severalInstances_neverExceedTheLimit() throws InterruptedException {
        for (Policy policy : List.of(
                Policy.of("bucket", TokenBucket.of(Rate.parse("5000/day"))),
                Policy.of("window", FixedWindow.of(Rate.parse("5000/day"))),
                Policy.of("sliding", SlidingWindow.of(Rate.parse("5000/day"))),
                Policy.of("log", SlidingLog.of(Rate.parse("5000/day"))))) {
            AtomicInteger admitted = new AtomicInteger();
            List<RedisStore> instances = List.of(store(), store(), store());
            List<Thread> threads = instances.stream()
                    .flatMap(store -> Stream.of(store, store))
                    .map(store -> new Thread(() -> {
                        for (int i = 0; i < 1500; i++) {
                            admitted.addAndGet(store.tryCharge(policy.charge("shared")) ? 1 : 0);
                        }
                    }))
                    .toList();
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(admitted.get()).as(policy.name()).isLessThanOrEqualTo(5000);

            // the third one is killed: its permits are lost for as long as the limit remembers them, and nobody gets
            // them
            instances.get(0).close();
            instances.get(1).close();
            long left = exact.peek(List.of(policy.charge("shared", 0)))
                    .limits()
                    .get(0)
                    .remaining();
            assertThat(admitted.get() + left).as(policy.name()).isLessThanOrEqualTo(5000);
        }
    }
}
