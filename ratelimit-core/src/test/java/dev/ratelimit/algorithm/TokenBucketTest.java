package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TokenBucketTest {

    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000_000_000;

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
        assertThat(key.retryAfter(26, 0)).isEqualTo(Limit.NEVER);
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
        Limit limit = TokenBucket.of(Rate.parse("10/second"));
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
                        "a token bucket has no calendar; for 10/month use algorithm fixed-window with align: clock");
    }

    @Test
    void of_fullOnlyAfterCenturies_isRefusedWithTheBound() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TokenBucket.of(Rate.parse("1/365d"), 100))
                .withMessage("a token bucket of 1/365d with burst 100 cannot be represented:"
                        + " an empty bucket must be full again within 73 years, and its rate exact to one in 10^9");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TokenBucket.of(Rate.parse("1/365d"), 200, Refill.INTERVAL))
                .withMessage("a token bucket of 1/365d with burst 200 cannot be represented:"
                        + " an empty bucket must be full again within 146 years");
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
}
