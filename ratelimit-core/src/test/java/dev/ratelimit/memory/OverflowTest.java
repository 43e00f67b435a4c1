package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which budget is charged if there is no room for a key, if its limit changes, and if the clock is set. */
class OverflowTest {

    private static final Policy EXHAUSTED = Policy.of("p", TokenBucket.of(Rate.parse("1/day")));

    private static final Policy FIRST =
            Policy.of("two", FixedWindow.of(Rate.parse("9/hour")), SlidingLog.of(Rate.parse("9/hour")));
    private static final Policy SECOND = Policy.of("p", TokenBucket.of(Rate.parse("10/hour")));

    private final SetTicker ticker = new SetTicker();

    private InMemoryStore store(int maxKeys) {
        return InMemoryStore.builder().ticker(ticker).maxKeys(maxKeys).build();
    }

    private static long left(InMemoryStore store, Policy policy, String key) {
        return store.peek(List.of(policy.charge(key, 0))).limits().get(0).remaining();
    }

    static Stream<Function<Rate, Limit>> kinds() {
        return Stream.of(
                TokenBucket::of,
                rate -> TokenBucket.of(rate, rate.permits(), TokenBucket.Refill.INTERVAL),
                FixedWindow::of,
                SlidingWindow::of,
                SlidingLog::of);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    @DisplayName("two plans whose keys find no room do not use up each other's budget")
    void tryCharge_twoPlansInTurns_eachHasItsBudget(Function<Rate, Limit> kind) {
        InMemoryStore store = store(1);
        Policy free = Policy.of("p", kind.apply(Rate.parse("10/minute")));
        Policy pro = Policy.of("p", kind.apply(Rate.parse("20/minute")));
        store.tryCharge(EXHAUSTED, "exhausted", 1);

        int admitted = 0;
        for (int i = 0; i < 720; i++) {
            ticker.advance(Duration.ofSeconds(5).toNanos());
            admitted += store.tryCharge(i % 2 == 0 ? free : pro, "k" + i, 1) ? 1 : 0;
        }

        assertThat(admitted).isEqualTo(720);
    }

    @Test
    void decide_twoKeysWithoutPlace_shareWhatIsLeft() {
        InMemoryStore store = store(1);
        Policy policy = Policy.of("p", TokenBucket.of(Rate.parse("3/hour")));
        store.tryCharge(EXHAUSTED, "exhausted", 1);
        store.tryCharge(policy, "first", 2);

        assertThat(store.decide(List.of(policy.charge("x"), policy.charge("y"))).admitted())
                .isFalse();
        assertThat(store.tryCharge(List.of(policy.charge("x"), policy.charge("y"))))
                .isFalse();
        assertThat(store.tryCharge(policy, "x", 1)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void refund_overflowPaid_goesBackToTheOverflow(Function<Rate, Limit> kind) {
        InMemoryStore store = store(1);
        Policy policy = Policy.of("p", kind.apply(Rate.parse("10/minute")));
        store.tryCharge(policy, "other", 10);
        Decision fromOverflow = store.decide(List.of(policy.charge("k", 4)));
        store.reset(policy, "other");
        store.tryCharge(policy, "k", 10);

        store.refund(fromOverflow);

        assertThat(left(store, policy, "k")).isZero();
        assertThat(store.tryCharge(policy, "without place", 10)).isTrue();
    }

    /** The second finds no room, so that the overflow pays it. */
    private static Decision chargeBoth(InMemoryStore store) {
        store.tryCharge(EXHAUSTED, "exhausted", 1);
        return store.decide(List.of(FIRST.charge("k"), SECOND.charge("k", 10)));
    }

    @Test
    void refund_ofThePartThatTheOverflowPaid_goesBackToTheOverflow() {
        InMemoryStore store = store(1);
        Decision charged = chargeBoth(store);

        store.refund(charged, List.of(SECOND.charge("k", 10)));

        assertThat(store.tryCharge(SECOND, "without place", 10)).isTrue();
        assertThat(left(store, FIRST, "k")).isEqualTo(8);
    }

    @Test
    void refund_overflowPaidForTheSecondCharge_goesBackToTheOverflow() {
        InMemoryStore store = store(1);
        Decision charged = chargeBoth(store);
        assertThat(store.tryCharge(SECOND, "without place", 1)).isFalse();

        store.refund(charged);

        assertThat(store.tryCharge(SECOND, "without place", 10)).isTrue();
        assertThat(left(store, FIRST, "k")).isEqualTo(9);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    @DisplayName("questions and refusals under two limits in turns use nothing up")
    void peekAndRefusal_twoLimitsInTurns_changeNothing(Function<Rate, Limit> kind) {
        InMemoryStore store = store(10);
        Policy seven = Policy.of("p", kind.apply(Rate.parse("7/hour")));
        Policy ten = Policy.of("p", kind.apply(Rate.parse("10/hour")));
        store.tryCharge(seven, "k", 1);
        Decision before = store.peek(List.of(seven.charge("k")));

        for (int i = 0; i < 20; i++) {
            store.peek(List.of((i % 2 == 0 ? ten : seven).charge("k")));
            assertThat(store.tryCharge(i % 2 == 0 ? ten : seven, "k", 10)).isFalse();
        }

        assertThat(store.peek(List.of(seven.charge("k")))).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void tryCharge_exhaustedKeyGetsALargerLimit_waitsForThatOnly(Function<Rate, Limit> kind) {
        InMemoryStore store = store(10);
        Policy day = Policy.of("p", kind.apply(Rate.parse("2/day")));
        Policy minute = Policy.of("p", kind.apply(Rate.parse("10/minute")));
        store.tryCharge(day, "k", 2);

        assertThat(store.tryCharge(minute, "k", 1)).isFalse();
        ticker.advance(Duration.ofMinutes(2).toNanos());

        assertThat(store.tryCharge(minute, "k", 10)).isTrue();
    }

    @Test
    void evict_keysOfTwoPlans_takesTheOneClosestToFull() {
        InMemoryStore store = store(8);
        Policy pro = Policy.of("p", TokenBucket.of(Rate.parse("1000/day")));
        Policy free = Policy.of("p", TokenBucket.of(Rate.parse("10/day")));
        store.tryCharge(pro, "pro", 900);
        for (int i = 0; i < 7; i++) {
            store.tryCharge(free, "free" + i, 1);
        }

        store.tryCharge(free, "new", 1);

        assertThat(left(store, pro, "pro")).isEqualTo(100);
        assertThat(store.evictedActive("p")).isEqualTo(1);
    }

    @Test
    @DisplayName("capacities whose products do not fit in a long are compared exactly")
    void evict_hugeCapacities_takesTheOneClosestToFull() {
        InMemoryStore store = store(2);
        Policy huge = Policy.of("p", FixedWindow.of(Rate.of(Long.MAX_VALUE, Duration.ofDays(1))));
        Policy large = Policy.of("p", FixedWindow.of(Rate.of(Long.MAX_VALUE / 2, Duration.ofDays(1))));
        store.tryCharge(huge, "huge", Long.MAX_VALUE / 2);
        store.tryCharge(large, "large", Long.MAX_VALUE / 8);

        store.tryCharge(huge, "new", 1);

        assertThat(left(store, large, "large")).isEqualTo(Long.MAX_VALUE / 2);
        assertThat(left(store, huge, "huge")).isEqualTo(Long.MAX_VALUE - Long.MAX_VALUE / 2);
    }

    @Test
    @DisplayName("a refund finds the window of its charge by its wall time, even if the clock was set since")
    void refund_wallClockWasSet_findsItsWindow() {
        WallTicker wall = new WallTicker(Duration.ofHours(100).plusSeconds(1));
        InMemoryStore store = InMemoryStore.builder().ticker(wall).build();
        Policy policy = Policy.of("p", FixedWindow.onClock(Rate.parse("10/hour"), ZoneOffset.UTC));
        Decision charged = store.decide(List.of(policy.charge("k", 4)));
        // half an hour passes, and the clock is set back by a quarter of an hour
        wall.nanos += Duration.ofMinutes(30).toNanos();
        wall.epoch += Duration.ofMinutes(15).toNanos();

        store.refund(charged);

        assertThat(left(store, policy, "k")).isEqualTo(10);
    }

    /** A wall clock that is set independently of monotonic time. */
    private static final class WallTicker implements Ticker, Scheduler {

        private long nanos;
        private long epoch;

        WallTicker(Duration sinceEpoch) {
            this.epoch = sinceEpoch.toNanos();
        }

        @Override
        public long nanos() {
            return nanos;
        }

        @Override
        public long epochNanos() {
            return epoch;
        }

        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            return () -> {};
        }
    }
}
