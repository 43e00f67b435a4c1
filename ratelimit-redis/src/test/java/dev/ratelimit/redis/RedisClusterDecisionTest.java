package dev.ratelimit.redis;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisCluster;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Decisions whose keys are on several nodes of a cluster. */
@Tag("servers")
class RedisClusterDecisionTest {

    private static final Rate TEN_AN_HOUR = Rate.parse("10/hour");
    private static final long NOON = Instant.parse("2027-01-01T12:00:00Z").getEpochSecond() * 1_000_000;

    @Started
    private static RedisCluster cluster;

    private static RedisClusterClient client;
    private static RedisClusterCommands<String, String> control;
    private static int stores;

    private final String prefix = "test" + stores++;
    private RedisStore store = store(script -> script);

    @BeforeAll
    static void createClient() {
        client = cluster.newClient();
        control = client.connect().sync();
    }

    @AfterEach
    void closeStore() {
        store.close();
    }

    private RedisStore store(UnaryOperator<Script> edition) {
        return RedisStore.builder(client)
                .prefix(prefix)
                .deadline(Duration.ofSeconds(20))
                .denyCache(Duration.ZERO)
                .onStoreFailure(OnStoreFailure.DENY)
                .edition(edition)
                .build();
    }

    /** A key of this policy in this third of the slots. */
    private String key(Policy policy, int third) {
        KeyNames names = new KeyNames(prefix);
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "key" + i)
                .filter(key -> 3 * SlotHash.getSlot(names.name(policy.name(), key)) / SlotHash.SLOT_COUNT == third)
                .findFirst()
                .orElseThrow();
    }

    /** One permit of a budget on each node. */
    private List<Charge> charges(Policy... policies) {
        return IntStream.range(0, policies.length)
                .mapToObj(i -> policies[i].charge(key(policies[i], i)))
                .toList();
    }

    private static Policy policy(String name, long permits) {
        return Policy.of(name, TokenBucket.of(new Rate(permits, Duration.ofHours(10))));
    }

    @Test
    void decide_oneSlotRefuses_othersGiveBackAndTheAnswerShowsIt() {
        List<Charge> charges = charges(policy("a", 5), policy("b", 1), policy("c", 7));

        assertThat(store.decide(charges)).isAdmitted().hasRemaining(4, 0, 6);
        assertThat(store.decide(charges)).isRefusedBy("b").hasRemaining(4, 0, 6);

        assertThat(store.peek(charges)).hasRemaining(4, 0, 6);
    }

    @Test
    void decide_oneSlotRefuses_memoryIsNotCharged_forOneThatFails() {
        Policy never = policy("never", 1);
        Policy here = policy("here", 5);
        Charge refused = never.charge(key(never, 0));
        Charge foreign = here.charge(key(here, 1));
        control.rpush(new KeyNames(prefix).name(here.name(), foreign.key()) + 0, "x");
        try (RedisStore local = RedisStore.builder(client)
                .prefix(prefix)
                .deadline(Duration.ofSeconds(20))
                .denyCache(Duration.ZERO)
                .localShare(1)
                .build()) {
            assertThat(local.decide(List.of(refused))).isAdmitted();

            for (int i = 0; i < 10; i++) {
                assertThat(local.decide(List.of(refused, foreign))).isRefusedBy("never");
            }

            assertThat(local.decide(List.of(here.charge(foreign.key(), 5)))).isAdmitted();
            assertThat(local.decide(List.of(foreign))).isRefusedBy("here");
        }
    }

    @Test
    void decide_costAboveTheLimit_isRefusedByMemoryToo() {
        Policy here = policy("here", 5);
        String key = key(here, 1);
        control.rpush(new KeyNames(prefix).name(here.name(), key) + 0, "x");
        try (RedisStore local = RedisStore.builder(client)
                .prefix(prefix)
                .deadline(Duration.ofSeconds(20))
                .localShare(0.4)
                .build()) {
            assertThat(local.decide(List.of(here.charge(key, 6)))).isRefusedBy("here");
            // what only exceeds this instance's share takes all of it
            assertThat(local.decide(List.of(here.charge(key, 5)))).isAdmitted();
            assertThat(local.decide(List.of(here.charge(key, 1)))).isRefusedBy("here");
        }
    }

    @Test
    void decide_manyThreads_budgetsAreWhatWasAdmitted() throws Exception {
        List<Charge> wide = charges(policy("a", 1000), policy("b", 1000), policy("c", 1000));
        List<Charge> tight = List.of(wide.get(0), policy("t", 50).charge("t"), wide.get(2));
        AtomicInteger byWide = new AtomicInteger();
        AtomicInteger byTight = new AtomicInteger();

        run(8, 60, () -> {
            (store.decide(wide).admitted() ? byWide : new AtomicInteger()).incrementAndGet();
            (store.decide(tight).admitted() ? byTight : new AtomicInteger()).incrementAndGet();
        });

        assertThat(byWide).hasValue(480);
        assertThat(byTight).hasValue(50);
        assertThat(store.peek(wide)).hasRemaining(470, 520, 470);
        assertThat(store.peek(tight)).hasRemaining(470, 0, 470);
    }

    private static void run(int threads, int times, Runnable task) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            Callable<Void> all = () -> {
                for (int i = 0; i < times; i++) {
                    task.run();
                }
                return null;
            };
            for (Future<Void> each : executor.invokeAll(
                    IntStream.range(0, threads).mapToObj(i -> all).toList())) {
                each.get();
            }
        } finally {
            executor.shutdownNow();
        }
    }

    @Test
    @DisplayName("B8: decide costs one command per slot")
    void decide_severalSlots_costsOneCommandEach() {
        List<Charge> charges = charges(policy("a", 100), policy("b", 100), policy("c", 100));
        store.decide(charges);
        store.decide(charges);
        cluster.nodes().forEach(node -> node.ask(redis -> redis.configResetstat()));

        for (int i = 0; i < 10; i++) {
            store.decide(charges);
            store.decide(charges.subList(0, 2));
        }

        assertThat(cluster.nodes().stream().map(RedisClusterDecisionTest::scripts))
                .containsExactly(20L, 20L, 10L);
    }

    private static long scripts(RedisServer node) {
        String statistics = node.ask(redis -> redis.info("commandstats"));
        return Arrays.stream(statistics.split("\r?\n"))
                .filter(line -> line.startsWith("cmdstat_eval"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^=]*=(\\d+),.*", "$1")))
                .sum();
    }

    static Stream<Limit> limits() {
        return Stream.of(
                TokenBucket.of(TEN_AN_HOUR),
                TokenBucket.of(TEN_AN_HOUR, 10, TokenBucket.Refill.INTERVAL),
                FixedWindow.of(TEN_AN_HOUR),
                SlidingWindow.of(TEN_AN_HOUR),
                SlidingLog.of(TEN_AN_HOUR));
    }

    @ParameterizedTest
    @MethodSource("limits")
    void refund_clocksDiffer_givesBackEverywhere(Limit limit) {
        store = store(FakeClock::inScript);
        RateLimiter limiter = new RateLimiter(store);
        Charge[] charges = charges(Policy.of("a", limit), Policy.of("b", limit), Policy.of("c", limit))
                .toArray(Charge[]::new);
        for (long[] ahead : new long[][] {{0, 300_000, 100_000}, {300_000, 100_000, 0}, {0, 100_000, 300_000}}) {
            FakeClock.set(control, NOON + ahead[0], NOON + ahead[1], NOON + ahead[2]);
            Decision decision = limiter.decide(charges);
            assertThat(decision).isAdmitted().hasRemaining(9, 9, 9);

            store.refund(decision);

            assertThat(limiter.peek(charges)).hasRemaining(10, 10, 10);
        }
    }

    @Test
    @DisplayName(
            "a refund goes to the window that each server charged, even if another server answers in the next window")
    void refund_anotherServerAnswersInNextWindow_nextWindowStaysAsCharged() {
        store = store(FakeClock::inScript);
        Policy minute = Policy.of("a", FixedWindow.onClock(Rate.parse("10/minute"), ZoneOffset.UTC));
        List<Charge> charges = charges(minute, policy("b", 10));
        FakeClock.set(control, NOON - 1, NOON + 1, NOON);
        Decision decision = store.decide(charges);
        FakeClock.set(control, NOON + 1, NOON + 1, NOON);
        assertThat(store.decide(List.of(minute.charge(charges.get(0).key(), 5))))
                .isAdmitted();

        store.refund(decision);

        assertThat(store.peek(charges)).hasRemaining(5, 10);
    }
}
