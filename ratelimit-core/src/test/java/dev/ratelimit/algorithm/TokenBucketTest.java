package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TokenBucketTest {

    @Test
    void refund_clockGoesBackAgainAndAgain_creditsNothing() {
        Key key = new Key(TokenBucket.of(Rate.parse("97/minute")), 0);
        key.charge(97, 0);
        long now = 0;

        for (int i = 0; i < 50; i++) {
            now -= Duration.ofDays(300).toNanos();
            key.refund(1, 0, now);
            assertThat(key.remaining(now)).isZero();
        }
        key.refund(1, 0, Long.MIN_VALUE + now);
        assertThat(key.remaining(Long.MIN_VALUE + now)).isZero();
    }

    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000_000_000;

    /** A state of two longs; a permit takes just over 333 ns. */
    private static final LimitAlgorithm FINE = TokenBucket.of(Rate.parse("3000017/second"), 100);

    @Test
    void charge_newBucket_isFull() {
        Key key = new Key(TokenBucket.of(Rate.parse("10/second")), 0);

        assertThat(key.remaining(0)).isEqualTo(10);
        assertThat(key.fullAfter(0)).isZero();
        assertThat(key.charge(10, 0)).isTrue();
        assertThat(key.charge(1, 0)).isFalse();
        assertThat(key.fullAfter(0)).isEqualTo(SECOND);
    }

    @Test
    void charge_afterAPermitsShareOfThePeriod_isAdmitted() {
        Key key = new Key(TokenBucket.of(Rate.parse("10/second")), 0);
        key.charge(10, 0);

        assertThat(key.retryAfter(1, 0)).isEqualTo(100 * MILLI);
        assertThat(key.charge(1, 100 * MILLI - 1)).isFalse();
        assertThat(key.charge(1, 100 * MILLI)).isTrue();
        assertThat(key.retryAfter(3, 100 * MILLI)).isEqualTo(300 * MILLI);
    }

    @Test
    void charge_permitIsNoWholeNanosecond_isExactAllTheSame() {
        Key key = new Key(TokenBucket.of(Rate.parse("3/second")), 0);
        key.charge(3, 0);

        assertThat(key.retryAfter(1, 0)).isEqualTo(333_333_334);
        assertThat(key.charge(1, 333_333_334)).isTrue();
        assertThat(key.charge(1, 666_666_666)).isFalse();
        assertThat(key.charge(1, 666_666_667)).isTrue();
        assertThat(key.charge(1, SECOND)).isTrue();
        assertThat(key.fullAfter(SECOND)).isEqualTo(SECOND);
    }

    @Test
    void charge_burst_isTheCapacity() {
        Key key = new Key(TokenBucket.of(Rate.parse("10/second"), 25), 0);

        assertThat(key.charge(26, 0)).isFalse();
        assertThat(key.retryAfter(26, 0)).isEqualTo(LimitAlgorithm.NEVER);
        assertThat(key.charge(25, 0)).isTrue();
        assertThat(key.retryAfter(25, 0)).isEqualTo(2_500 * MILLI);
        assertThat(key.remaining(1_250 * MILLI)).isEqualTo(12);
    }

    @Test
    void remaining_longIdle_isCapacityAndNoMore() {
        Key key = new Key(TokenBucket.of(Rate.parse("10/second")), 0);
        key.charge(10, 0);

        assertThat(key.remaining(SECOND)).isEqualTo(10);
        assertThat(key.remaining(Duration.ofDays(3650).toNanos())).isEqualTo(10);
        assertThat(key.charge(11, SECOND)).isFalse();
    }

    @Test
    void nextAvailable_isWhenTheNextTokenIsWhole() {
        Key key = new Key(TokenBucket.of(Rate.parse("10/second")), 0);
        key.charge(4, 0);

        assertThat(key.nextAvailable(30 * MILLI)).isEqualTo(70 * MILLI);
        assertThat(key.nextAvailable(400 * MILLI)).isZero();
    }

    @Test
    void refund_givesBackAndNeverAboveFull() {
        Key key = new Key(TokenBucket.of(Rate.parse("10/second")), 0);
        key.charge(10, 0);

        key.refund(4, 0, 0);
        assertThat(key.remaining(0)).isEqualTo(4);
        key.refund(10, 0, 0);
        assertThat(key.remaining(0)).isEqualTo(10);
        assertThat(key.fullAfter(0)).isZero();
    }

    @Test
    void adopt_otherCapacity_keepsTheShareThatIsUsed() {
        Key key = new Key(TokenBucket.of(Rate.parse("10/second")), 0);
        key.charge(5, 0);

        Key halfOfLess = key.adoptedBy(TokenBucket.of(Rate.parse("5/second")), 0);
        Key halfOfMore = key.adoptedBy(TokenBucket.of(Rate.parse("1000/minute"), 64), 0);

        assertThat(halfOfLess.remaining(0)).isEqualTo(2);
        assertThat(halfOfLess.retryAfter(3, 0)).isEqualTo(100 * MILLI);
        assertThat(halfOfMore.remaining(0)).isEqualTo(32);
    }

    @Test
    void adopt_otherKindOfLimit_isDeclined() {
        LimitAlgorithm limit = TokenBucket.of(Rate.parse("10/second"));
        long[] untouched = {7};

        assertThat(limit.adopt(untouched, 0, FixedWindow.of(Rate.parse("10/second")), new long[2], 0))
                .isFalse();
        assertThat(untouched).containsExactly(7);
    }

    @ParameterizedTest
    @CsvSource({"10/second, 10, 1", "64/PT0.000000001S, 64, 1", "7/second, 7, 1", "65/PT0.000000001S, 65, 2"})
    void stateSize_fewTicksANanosecond_isOneLong(String rate, long burst, int longs) {
        assertThat(TokenBucket.of(Rate.parse(rate), burst).stateSize()).isEqualTo(longs);
    }

    @Test
    void replenish_isTheTimeToFillAnEmptyBucket() {
        assertThat(TokenBucket.of(Rate.parse("10/second")).replenishNanos()).isEqualTo(SECOND);
        assertThat(TokenBucket.of(Rate.parse("10/second"), 25).replenishNanos()).isEqualTo(2_500 * MILLI);
        assertThat(TokenBucket.of(Rate.parse("3/second"), 1).replenishNanos()).isEqualTo(333_333_334);
    }

    @Test
    void of_burstBelowOne_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TokenBucket.of(Rate.parse("10/second"), 0))
                .withMessage("burst must be at least 1 but was 0");
    }

    @Test
    void of_month_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TokenBucket.of(Rate.parse("10/month")))
                .withMessage(
                        "a token bucket cannot follow the calendar; for 10/month use algorithm fixed-window with align: clock");
    }

    @Test
    void of_fullOnlyAfterCenturies_isRefusedWithTheBound() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TokenBucket.of(Rate.parse("1/365d"), 100))
                .withMessage("a token bucket of 1/365d with burst 100 cannot be represented:"
                        + " an empty bucket must be full again within 73 years");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TokenBucket.of(Rate.parse("1/365d"), 200, Refill.INTERVAL))
                .withMessage("a token bucket of 1/365d with burst 200 cannot be represented:"
                        + " an empty bucket must be full again within 146 years");
    }

    @Test
    void of_burstBeyondTheTicks_isRefusedWithTheBound() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TokenBucket.of(Rate.of(1L << 62, Duration.ofNanos(1)), (1L << 61) + 1))
                .withMessageEndingWith("cannot be represented: burst must be at most 2305843009213693952");
        assertThat(TokenBucket.of(Rate.of(1L << 61, Duration.ofNanos(1)), 1L << 61)
                        .capacity())
                .isEqualTo(1L << 61);
    }

    @Test
    void of_rateTooFineForTheBurst_isRefusedWithTheBound() {
        Rate rate = Rate.of(1_000_000_007, Duration.ofNanos(1_000_000_009));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> TokenBucket.of(rate, 1L << 40))
                .withMessageEndingWith("cannot be represented: with this burst, the rate is not accurate to 1 in 10^9");
    }

    @Test
    void toString_namesWhatIsNotTheDefault() {
        Rate rate = Rate.parse("10/second");

        assertThat(TokenBucket.of(rate)).hasToString("10/second (token-bucket)");
        assertThat(TokenBucket.of(rate, 20)).hasToString("10/second (token-bucket, burst 20)");
        assertThat(TokenBucket.of(rate, 10, Refill.INTERVAL)).hasToString("10/second (token-bucket, refill interval)");
        assertThat(TokenBucket.of(rate, 20, Refill.INTERVAL))
                .hasToString("10/second (token-bucket, refill interval, burst 20)");
    }

    @Test
    void charge_fineTicksAndClockStepsBack_waitsForTheStepToo() {
        Key key = new Key(FINE, 1_000);
        key.charge(100, 1_000);
        long wait = key.retryAfter(1, 1_000);

        assertThat(key.remaining(400)).isZero();
        assertThat(key.retryAfter(1, 400)).isEqualTo(wait + 600);
        assertThat(key.admits(1, 400 + wait)).isFalse();
        assertThat(key.admits(1, 1_000 + wait)).isTrue();
        assertThat(key.retryAfter(1, Long.MIN_VALUE / 2)).isPositive();
        assertThat(key.remaining(Long.MIN_VALUE / 2)).isZero();
    }

    @Test
    void charge_fineTicksAndJustFull_creditsNoPartOfATick() {
        Key key = new Key(FINE, 0);
        key.charge(100, 0);
        long full = key.fullAfter(0);
        Key fresh = new Key(FINE, full);

        assertThat(key.charge(100, full)).isTrue();
        assertThat(fresh.charge(100, full)).isTrue();

        assertThat(key.snapshot()).isEqualTo(fresh.snapshot());
    }

    @Test
    void charge_burstTooLargeForExactTicks_isSlowerByOneInABillionAtMost() {
        Rate rate = Rate.of(1_000_003, Duration.ofNanos(999_999_999_989L));
        Key key = new Key(TokenBucket.of(rate, 100_000_000), 0);
        key.charge(100_000_000, 0);

        long exact = WideMath.mulDivCeil(100_000_000, 999_999_999_989L, 1_000_003);
        assertThat(key.fullAfter(0)).isBetween(exact, exact + exact / 1_000_000_000);
        assertThat(key.remaining(exact / 2)).isCloseTo(50_000_000, within(1L));
    }

    @Test
    void of_largestBurstOfExactTicks_isExact() {
        Rate rate = Rate.of(1, Duration.ofNanos(1L << 20));

        Key key = new Key(TokenBucket.of(rate, 1L << 41), 0);
        key.charge(1L << 41, 0);

        assertThat(key.fullAfter(0)).isEqualTo(1L << 61);
        assertThat(key.retryAfter(1, 0)).isEqualTo(1L << 20);
    }

    @Test
    void charge_clockSetBackFar_isRefusedAlsoWhereTicksAreManyANano() {
        Key key = new Key(TokenBucket.of(Rate.of(4_000_000_000L, Duration.ofNanos(999_999_999)), 10), 0);
        key.charge(1, 0);

        assertThat(key.remaining(-Duration.ofDays(36_500).toNanos())).isZero();
    }
}
