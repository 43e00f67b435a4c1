package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import dev.ratelimit.Seeds;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import java.math.BigInteger;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Random;
import java.util.function.BiFunction;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Properties of every algorithm with random rates, times and costs. A failing run prints its seed. */
class AlgorithmPropertiesTest {

    private static final int ROUNDS = 300;
    private static final int STEPS = 40;

    /**
     * Each algorithm, its definition in exact arithmetic, and the maximum that it may admit in an interval of length t.
     */
    enum Kind {
        TOKEN_BUCKET(TokenBucket::of, Reference.Bucket::new, (limit, t) -> flow(limit, t)),
        INTERVAL(
                (rate, burst) -> TokenBucket.of(rate, burst, Refill.INTERVAL),
                Reference.TimerBucket::new,
                (limit, t) -> limit.capacity() + limit.rate().permits() * (t / period(limit) + 1)),
        FIRST_HIT(
                (rate, burst) -> FixedWindow.of(rate),
                (rate, burst) -> new Reference.FirstHitWindow(rate),
                (limit, t) -> limit.capacity() * (t / period(limit) + 2)),
        CLOCK(
                (rate, burst) -> FixedWindow.onClock(rate, ZoneOffset.UTC),
                (rate, burst) -> new Reference.ClockWindow(rate),
                (limit, t) -> limit.capacity() * (t / period(limit) + 2)),
        SLIDING(
                (rate, burst) -> SlidingWindow.of(rate),
                (rate, burst) -> new Reference.WeightedWindows(rate, false),
                (limit, t) -> flow(limit, t)),
        SLIDING_FLOOR(
                (rate, burst) -> SlidingWindow.of(rate, Rounding.FLOOR),
                (rate, burst) -> new Reference.WeightedWindows(rate, true),
                (limit, t) -> flow(limit, t) + 1),
        LOG(
                (rate, burst) -> SlidingLog.of(rate),
                (rate, burst) -> new Reference.Log(rate),
                (limit, t) -> limit.capacity() * (t / period(limit) + 1));

        private final BiFunction<Rate, Long, LimitAlgorithm> limit;
        private final BiFunction<Rate, Long, Reference> reference;
        private final BiFunction<LimitAlgorithm, Long, Long> bound;

        Kind(
                BiFunction<Rate, Long, LimitAlgorithm> limit,
                BiFunction<Rate, Long, Reference> reference,
                BiFunction<LimitAlgorithm, Long, Long> bound) {
            this.limit = limit;
            this.reference = reference;
            this.bound = bound;
        }

        private static long period(LimitAlgorithm limit) {
            return limit.rate().periodNanos();
        }

        private static long flow(LimitAlgorithm limit, long t) {
            return limit.capacity() + limit.rate().permits() * t / period(limit);
        }
    }

    /** One random history: a rate, a limit with it, and a key under the limit. */
    private static final class Run {
        final long seed = Seeds.next();
        final Random random = new Random(seed);
        final Rate rate = Rate.of(1L + random.nextInt(8), Duration.ofNanos(1L + random.nextInt(60)));
        final long burst = 1L + random.nextInt(12);
        final LimitAlgorithm limit;
        Key key;
        long now;

        Run(Kind kind, long start) {
            limit = kind.limit.apply(rate, burst);
            key = new Key(limit, start);
            now = start;
        }

        long permits() {
            return random.nextInt((int) limit.capacity() + 2);
        }

        void pass() {
            now += random.nextInt(3) == 0 ? 0 : random.nextInt(random.nextInt(4) == 0 ? 150 : 15);
        }

        String where() {
            return limit + ", seed " + seed;
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A1 no interval between two admitted charges holds more than the algorithm's bound")
    void charge_anyHistory_staysWithinTheBoundOfEveryInterval(Kind kind) {
        for (int round = 0; round < ROUNDS; round++) {
            Run run = new Run(kind, 0);
            assertBound(kind, run, false);
        }
    }

    @ParameterizedTest
    @EnumSource(names = "CLOCK", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName("A6 a clock that steps back credits nothing: the bound holds from the latest time that was charged")
    void charge_clockStepsBack_staysWithinTheBound(Kind kind) {
        for (int round = 0; round < ROUNDS; round++) {
            Run run = new Run(kind, 0);
            assertBound(kind, run, true);
        }
    }

    private static void assertBound(Kind kind, Run run, boolean stepsBack) {
        long[] times = new long[STEPS];
        long[] admitted = new long[STEPS];
        long latest = Long.MIN_VALUE;
        for (int i = 0; i < STEPS; i++) {
            run.pass();
            long permits = run.permits();
            admitted[i] = run.key.charge(permits, run.now) ? permits : 0;
            // a state only knows the time of the last charge
            latest = admitted[i] > 0 ? Math.max(latest, run.now) : latest;
            times[i] = latest;
            long sum = 0;
            for (int from = i; from >= 0 && times[from] != Long.MIN_VALUE; from--) {
                sum += admitted[from];
                assertThat(sum).as(run::where).isLessThanOrEqualTo(kind.bound.apply(run.limit, times[i] - times[from]));
            }
            if (stepsBack && run.random.nextInt(4) == 0) {
                run.now -= run.random.nextInt(40);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A2 decisions, remaining permits and waits match the definition in exact arithmetic")
    void charge_anyHistory_equalsTheReference(Kind kind) {
        for (int round = 0; round < ROUNDS; round++) {
            Run run = new Run(kind, 0);
            Reference reference = kind.reference.apply(run.rate, run.burst);
            for (int i = 0; i < STEPS; i++) {
                run.pass();
                long permits = run.permits();
                assertThat(run.key.remaining(run.now)).as(run::where).isEqualTo(maxAdmitted(run, reference));
                assertThat(run.key.charge(permits, run.now))
                        .as(run::where)
                        .isEqualTo(reference.charge(permits, run.now));
                assertThat(reference.full(run.now + run.key.fullAfter(run.now)))
                        .as(run::where)
                        .isTrue();
                if (run.key.fullAfter(run.now) > 0) {
                    assertThat(reference.full(run.now + run.key.fullAfter(run.now) - 1))
                            .as(run::where)
                            .isFalse();
                }
            }
        }
    }

    private static long maxAdmitted(Run run, Reference reference) {
        long most = 0;
        while (most < run.limit.capacity() && reference.admits(most + 1, run.now)) {
            most++;
        }
        return most;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A3 a refused charge does not change the state")
    void charge_refused_changesNothing(Kind kind) {
        for (int round = 0; round < ROUNDS; round++) {
            Run run = new Run(kind, 0);
            for (int i = 0; i < STEPS; i++) {
                run.pass();
                long[] before = run.key.snapshot();
                if (!run.key.charge(run.permits(), run.now)) {
                    assertThat(run.key.snapshot()).as(run::where).isEqualTo(before);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A4 charges and refunds at one time add up, and never raise the key above full")
    void refund_anyOrder_conserves(Kind kind) {
        for (int round = 0; round < ROUNDS; round++) {
            Run run = new Run(kind, 1_000);
            long drained = 0;
            for (int i = 0; i < STEPS; i++) {
                long permits = 1L + run.random.nextInt((int) run.limit.capacity());
                if (run.random.nextBoolean() && permits <= drained) {
                    run.key.refund(permits, 0, run.now);
                    drained -= permits;
                } else if (run.key.charge(permits, run.now)) {
                    drained += permits;
                }
                assertThat(run.key.remaining(run.now)).as(run::where).isEqualTo(run.limit.capacity() - drained);
            }
            run.key.refund(run.limit.capacity(), 0, run.now);
            assertThat(run.key.remaining(run.now)).as(run::where).isEqualTo(run.limit.capacity());
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A4 a late refund has the same effect as no charge, while the charge still counts")
    void refund_later_equalsNeverCharged(Kind kind) {
        for (int round = 0; round < ROUNDS; round++) {
            Run run = new Run(kind, 1_000);
            for (int i = 0; i < STEPS; i++) {
                run.pass();
                Key without = run.key.copy();
                long full = run.key.fullAfter(run.now);
                long permits = 1L + run.random.nextInt((int) run.limit.capacity());
                boolean admitted = run.key.charge(permits, run.now);
                if (!admitted || full == 0) {
                    continue;
                }
                long age = run.random.nextLong(full);
                run.key.refund(permits, age, run.now + age);
                assertThat(run.key.remaining(run.now + age)).as(run::where).isEqualTo(without.remaining(run.now + age));
                run.key = without;
                run.key.charge(run.permits(), run.now);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A5 after exactly retry-after a lone caller is admitted, one nanosecond earlier it is refused")
    void retryAfter_isExact(Kind kind) {
        for (int round = 0; round < ROUNDS; round++) {
            Run run = new Run(kind, 0);
            for (int i = 0; i < STEPS; i++) {
                run.pass();
                long permits = run.permits();
                long wait = run.key.retryAfter(permits, run.now);
                assertThat(wait == LimitAlgorithm.NEVER).as(run::where).isEqualTo(permits > run.limit.capacity());
                assertThat(wait == 0).as(run::where).isEqualTo(run.key.admits(permits, run.now));
                if (wait > 0 && wait != LimitAlgorithm.NEVER) {
                    assertThat(run.key.admits(permits, run.now + wait))
                            .as(run::where)
                            .isTrue();
                    assertThat(run.key.admits(permits, run.now + wait - 1))
                            .as(run::where)
                            .isFalse();
                }
                run.key.charge(permits, run.now);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = "CLOCK", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName("A8 decisions do not depend on where time starts: at 0, before an overflow, or far below 0")
    void charge_timeStartsAnywhere_decidesTheSame(Kind kind) {
        for (long start : List.of(Long.MAX_VALUE - 100, Long.MIN_VALUE + 50, -100L, -1L)) {
            for (int round = 0; round < ROUNDS / 4; round++) {
                Run run = new Run(kind, 0);
                Key elsewhere = new Key(run.limit, start);
                for (int i = 0; i < STEPS; i++) {
                    run.pass();
                    long permits = run.permits();
                    long there = start + run.now;
                    assertThat(elsewhere.retryAfter(permits, there))
                            .as(run::where)
                            .isEqualTo(run.key.retryAfter(permits, run.now));
                    assertThat(elsewhere.charge(permits, there))
                            .as(run::where)
                            .isEqualTo(run.key.charge(permits, run.now));
                    assertThat(elsewhere.fullAfter(there)).as(run::where).isEqualTo(run.key.fullAfter(run.now));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A9 the most extreme rates are exact, or refused with the reason")
    void of_extremes_areExactOrRefused(Kind kind) {
        Duration[] periods = {
            Duration.ofNanos(1), Duration.ofNanos(999_999_937), Duration.ofDays(3_650), Duration.ofNanos(Long.MAX_VALUE)
        };
        for (long permits : List.of(1L, 3L, 1_000_003L, Long.MAX_VALUE)) {
            for (Duration period : periods) {
                LimitAlgorithm limit;
                try {
                    limit = kind.limit.apply(Rate.of(permits, period), permits);
                } catch (IllegalArgumentException refused) {
                    assertThat(refused).hasMessageMatching("(?s).*(cannot be represented|at most).*");
                    continue;
                }
                Key key = new Key(limit, 0);
                assertThat(key.charge(limit.capacity(), 0)).as(limit::toString).isTrue();
                assertThat(key.remaining(0)).as(limit::toString).isZero();
                assertThat(key.admits(1, 0)).as(limit::toString).isFalse();
                long wait = key.retryAfter(1, 0);
                assertThat(wait).as(limit::toString).isPositive();
                assertThat(key.admits(1, wait)).as(limit::toString).isTrue();
                assertThat(key.admits(1, wait - 1)).as(limit::toString).isFalse();
            }
        }
    }

    @Test
    @DisplayName("A9 a rate that is not a whole number of nanoseconds is exact over years")
    void tokenBucket_oddRates_areExactInTheLongRun() {
        for (Rate rate : List.of(
                Rate.parse("7000/minute"),
                Rate.parse("999/second"),
                Rate.parse("365/24h"),
                Rate.parse("3000017/second"))) {
            Key key = new Key(TokenBucket.of(rate, 1), 0);
            BigInteger permits = BigInteger.valueOf(rate.permits());
            long now = 0;
            for (long n = 0; n < 100_000; n++) {
                assertThat(key.charge(1, now)).as("%s, permit %s", rate, n).isTrue();
                now += key.retryAfter(1, now);
            }
            BigInteger due = BigInteger.valueOf(rate.periodNanos()).multiply(BigInteger.valueOf(100_000));
            assertThat(BigInteger.valueOf(now).multiply(permits).subtract(due).signum())
                    .isNotNegative();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A11 a key that is idle until full after equals a new key")
    void fullAfter_idleUntilThen_equalsNeverSeen(Kind kind) {
        for (int round = 0; round < ROUNDS; round++) {
            Run run = new Run(kind, 0);
            for (int i = 0; i < 10; i++) {
                run.pass();
                run.key.charge(run.permits(), run.now);
            }
            run.now += run.key.fullAfter(run.now);
            Key fresh = new Key(run.limit, run.now);
            for (int i = 0; i < STEPS; i++) {
                long permits = run.permits();
                assertThat(run.key.charge(permits, run.now)).as(run::where).isEqualTo(fresh.charge(permits, run.now));
                assertThat(run.key.remaining(run.now)).as(run::where).isEqualTo(fresh.remaining(run.now));
                assertThat(run.key.retryAfter(permits, run.now))
                        .as(run::where)
                        .isEqualTo(fresh.retryAfter(permits, run.now));
                run.pass();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A12 a million small steps of time equal one large step")
    void charge_timeInSmallSteps_equalsOneStep(Kind kind) {
        Rate rate = Rate.of(7, Duration.ofNanos(1_300_000));
        Key asked = new Key(kind.limit.apply(rate, 100L), 0);
        Key left = new Key(kind.limit.apply(rate, 100L), 0);
        asked.charge(7, 0);
        left.charge(7, 0);
        for (long now = 1; now <= 1_000_000; now++) {
            asked.charge(0, now);
            asked.refund(0, 0, now);
        }

        assertThat(asked.remaining(1_000_000)).isEqualTo(left.remaining(1_000_000));
        assertThat(asked.retryAfter(7, 1_000_000)).isEqualTo(left.retryAfter(7, 1_000_000));
        assertThat(asked.fullAfter(1_000_000)).isEqualTo(left.fullAfter(1_000_000));
    }

    @Test
    void of_burstBelowOne_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TokenBucket.of(Rate.parse("1/second"), 0))
                .withMessage("burst must be at least 1 but was 0");
    }
}
