package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.lang.management.ManagementFactory;
import java.time.ZoneId;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class InMemoryStoreAllocationTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int CALLS = 1_000;

    private final InMemoryStore store = InMemoryStore.create();

    /** A limit of each algorithm, and a token bucket whose state is two longs. */
    static Stream<Limit> limits() {
        Rate rate = Rate.parse("10000/day");
        return Stream.of(
                TokenBucket.of(rate),
                TokenBucket.of(Rate.parse("10007/day")),
                TokenBucket.of(rate, 10_000, TokenBucket.Refill.INTERVAL),
                FixedWindow.of(rate),
                SlidingWindow.of(rate),
                SlidingLog.of(rate));
    }

    @ParameterizedTest
    @MethodSource("limits")
    void tryCharge_admitted_allocatesNothing(Limit limit) {
        Policy policy = Policy.of("p", limit);
        store.tryCharge(policy.charge("k", 5_000));
        Charge one = policy.charge("k");
        assertThat(store.tryCharge(one))
                .as("one more, for which a log grows to all it can need")
                .isTrue();

        assertThat(allocatedByCalls(() -> store.tryCharge(one))).isLessThan(CALLS);
        assertThat(store.tryCharge(one)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("G1 a refusal allocates nothing")
    void tryCharge_refused_allocatesNothing(Limit limit) {
        Charge all = Policy.of("p", limit).charge("k", limit.capacity());
        store.tryCharge(all);
        assertThat(store.tryCharge(all)).isFalse();

        assertThat(allocatedByCalls(() -> store.tryCharge(all))).isLessThan(CALLS);
    }

    @Test
    @DisplayName("G1 several limits at once: neither an admission nor a refusal allocates anything")
    void tryCharge_severalLimits_allocatesNothing() {
        Limit ample = TokenBucket.of(Rate.parse("100000/day"));
        Charge global = Policy.of("global", ample).charge();
        Charge endpoint = Policy.of("endpoint", FixedWindow.of(Rate.parse("100000/day")), ample)
                .charge("e");
        Charge user =
                Policy.of("user", SlidingWindow.of(Rate.parse("100000/day"))).charge("u");
        Charge exhausted =
                Policy.of("tight", TokenBucket.of(Rate.parse("1/day"))).charge("u");
        List<Charge> admitted = List.of(global, endpoint, user);
        List<Charge> refused = List.of(global, endpoint, exhausted);
        assertThat(store.tryCharge(admitted)).isTrue();
        assertThat(store.tryCharge(refused)).isTrue();

        assertThat(allocatedByCalls(() -> store.tryCharge(admitted))).isLessThan(CALLS);
        assertThat(allocatedByCalls(() -> store.tryCharge(refused))).isLessThan(CALLS);
        assertThat(store.tryCharge(admitted)).isTrue();
        assertThat(store.tryCharge(refused)).isFalse();
    }

    @Test
    @DisplayName(
            "G1 more policies without keys than cached shared budgets allocate nothing, nor do equal ones in turns")
    void tryCharge_manyPoliciesWithoutKeys_allocatesNothing() {
        Limit limit = TokenBucket.of(Rate.parse("100000000/day"));
        List<Policy> policies = IntStream.range(0, 20)
                .mapToObj(i -> Policy.of("p" + i / 2, limit))
                .toList();
        Runnable all = () -> {
            for (int i = 0; i < policies.size(); i++) {
                store.tryCharge(policies.get(i), "", 1);
            }
        };
        all.run();
        all.run();

        assertThat(allocatedByCalls(all)).isLessThan(CALLS);
    }

    @ParameterizedTest
    @MethodSource("clockAligned")
    @DisplayName("G1 windows aligned with the clock allocate only what reading the clock does")
    void tryCharge_clockAligned_allocatesNothing(Limit limit) {
        FixedTime time = new FixedTime();
        InMemoryStore byFixedTime = InMemoryStore.builder().ticker(time).build();
        Charge one = Policy.of("p", limit).charge("k");
        byFixedTime.tryCharge(one);

        assertThat(allocatedByCalls(() -> byFixedTime.tryCharge(one))).isLessThan(CALLS);
    }

    static Stream<Limit> clockAligned() {
        return Stream.of("5000/minute", "5000/day", "5000/month")
                .map(rate -> FixedWindow.onClock(Rate.parse(rate), ZoneId.of("Europe/Zurich")));
    }

    private static final class FixedTime implements Ticker, Scheduler {

        @Override
        public long nanos() {
            return 0;
        }

        @Override
        public long epochNanos() {
            return 1_700_000_000_000_000_000L;
        }

        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            return () -> {};
        }
    }

    /** In bytes; one object per call would be 8 bytes per call or more. */
    private static long allocatedByCalls(Runnable call) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < CALLS; i++) {
            call.run();
        }
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }
}
