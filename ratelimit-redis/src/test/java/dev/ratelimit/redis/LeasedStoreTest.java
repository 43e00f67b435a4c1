package dev.ratelimit.redis;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.lease.LeasingStore;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.test.FakeTicker;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Leases from a real server, whose clock is real, so that almost nothing refills during a test. */
@Tag("servers")
class LeasedStoreTest {

    private static final Policy GLOBAL = Policy.of("global", TokenBucket.of(Rate.of(100_000, Duration.ofDays(10_000))));

    @Started
    private static RedisServer server;

    private static RedisClient client;
    private static RedisStore exact;

    private final FakeTicker ticker = new FakeTicker();

    @BeforeAll
    static void createClients() {
        client = server.newClient();
        exact = RedisStore.builder(server.newClient())
                .onStoreFailure(OnStoreFailure.DENY)
                .deadline(Duration.ofSeconds(20))
                .build();
    }

    private RateLimitStore store(UnaryOperator<RedisStoreBuilder> settings) {
        RedisStore redis = settings.apply(RedisStore.builder(client))
                .ticker(ticker)
                .deadline(Duration.ofSeconds(20))
                .onStoreFailure(OnStoreFailure.DENY)
                .build();
        return new LeasingStore(redis, 0.1, Duration.ofSeconds(1), RedisStore::decidedByRedis, ticker, ticker);
    }

    private static long commands() {
        String stats = server.ask(redis -> redis.info("commandstats"));
        return stats.lines()
                .filter(line -> line.startsWith("cmdstat_evalsha:"))
                .mapToLong(line -> Long.parseLong(line.replaceFirst(".*calls=(\\d+),.*", "$1")))
                .sum();
    }

    @Test
    @DisplayName("H2: leases are refunded when the store is closed")
    void decide_hotKey_takesFewRoundTrips_andCloseReturnsTheRest() {
        long before = commands();

        try (RateLimitStore leased = store(settings -> settings)) {
            for (int i = 0; i < 20_000; i++) {
                assertThat(leased.decide(List.of(GLOBAL.charge("hot")))).isAdmitted();
            }
        }

        assertThat(commands() - before).isLessThan(2_000);
        assertThat(exact.peek(List.of(GLOBAL.charge("hot")))).hasRemaining(80_000);
    }

    @Test
    @DisplayName("a charge spent from a lease returns to that lease if a server charges the rest in the next window")
    void refund_paidFromLeaseOfLastWindow_nextWindowStaysAsCharged() {
        Policy minute = Policy.of("minute", FixedWindow.onClock(Rate.parse("10000/minute"), ZoneOffset.UTC));
        Policy few = Policy.of("few", TokenBucket.of(Rate.parse("3/day")));
        try (StatefulRedisConnection<String, String> control = client.connect();
                RateLimitStore leased = store(settings -> settings.edition(FakeClock::inScript))) {
            long noon = 1_800_000_000_000_000L;
            set(control, noon - 1);
            for (int i = 0; i < 200; i++) {
                assertThat(leased.tryCharge(minute.charge("k"))).isTrue();
            }
            // a connection answers in order: after this answer, no lease is in flight
            assertThat(leased.peek(List.of(minute.charge("k")))).isAdmitted();
            set(control, noon + 1);
            Decision decision = leased.decide(List.of(minute.charge("k"), few.charge("u")));
            Charge direct = minute.charge("k", 5000);
            assertThat(leased.decide(List.of(direct))).isAdmitted();
            long left = leased.peek(List.of(direct)).limits().get(0).remaining();

            leased.refund(decision);

            assertThat(leased.peek(List.of(direct, few.charge("u")))).hasRemaining(left, 3);
        }
    }

    private static void set(StatefulRedisConnection<String, String> control, long micros) {
        control.sync()
                .mset(Map.of(
                        "clock:{b}:seconds", Long.toString(micros / 1_000_000),
                        "clock:{b}:micros", Long.toString(micros % 1_000_000)));
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
            List<RateLimitStore> instances =
                    Stream.generate(() -> store(settings -> settings)).limit(3).toList();
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
