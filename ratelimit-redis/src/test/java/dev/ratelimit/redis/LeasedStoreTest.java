package dev.ratelimit.redis;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.test.FakeTicker;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Leases: charged first, spent here, given back. The server's clock is real, so limits are by the hour. */
class LeasedStoreTest {

    private static final Policy GLOBAL = Policy.of("global", TokenBucket.of(Rate.parse("100000/day")));
    private static final int CAPACITY = 100_000;

    private static RedisServer server;
    private static RedisClient client;
    private static RedisStore exact;

    private final FakeTicker ticker = new FakeTicker();
    private final RedisStore leased = store();

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
        client = RedisClient.create(server.uri());
        exact = RedisStore.builder(RedisClient.create(server.uri()))
                .onStoreFailure(OnStoreFailure.DENY)
                .deadline(Duration.ofSeconds(20))
                .build();
    }

    @AfterAll
    static void stopServer() {
        server.close();
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

    /** Asks until leases pay. */
    private void warm(Policy policy, String key) {
        for (int i = 0; i < 1000; i++) {
            leased.decide(List.of(policy.charge(key)));
        }
    }

    @Test
    void decide_rarelyAskedKey_takesNoLease() {
        for (int i = 0; i < 5; i++) {
            leased.decide(List.of(GLOBAL.charge("rare")));
        }

        assertThat(remaining("rare")).isEqualTo(CAPACITY - 5);
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
        warm(GLOBAL, "refund");
        Decision decision = leased.decide(List.of(GLOBAL.charge("refund", 20)));

        leased.refund(List.of(GLOBAL.charge("refund", 20)), decision);

        leased.close();
        assertThat(remaining("refund")).isEqualTo(CAPACITY - 1000);
    }

    @Test
    void reset_leasedKey_isFullAgain() {
        warm(GLOBAL, "reset");

        leased.reset(GLOBAL, "reset");

        leased.close();
        assertThat(remaining("reset")).isEqualTo(CAPACITY);
    }

    @Test
    @DisplayName("H2: unspent permits go back when their lease is over, without anybody asking")
    void lease_expires_goesBack() {
        warm(GLOBAL, "idle");
        assertThat(remaining("idle")).isLessThan(CAPACITY - 1000);

        ticker.advance(Duration.ofSeconds(3));

        await().untilAsserted(() -> assertThat(remaining("idle")).isEqualTo(CAPACITY - 1000));
    }

    @Test
    @DisplayName("E23: a lease is not spent after its time, however long the process stood still")
    void lease_processStoodStill_isNotSpent() {
        List<LimitStatus> statuses =
                exact.decide(List.of(GLOBAL.charge("still", 100))).limits();
        Lease lease = new Lease(GLOBAL.charge("still", 100), statuses, 0, 0, 1_000_000_000);

        assertThat(lease.spend(1, 999_999_999)).isTrue();
        assertThat(lease.spend(1, 1_000_000_000)).isFalse();
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

            // the third one dies: what it holds is lost for as long as the limit remembers, and nobody gets it
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
