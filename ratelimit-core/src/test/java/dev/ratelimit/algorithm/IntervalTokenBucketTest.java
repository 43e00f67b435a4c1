package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class IntervalTokenBucketTest {

    private static final long SECOND = 1_000_000_000;

    private final LimitAlgorithm limit = TokenBucket.of(Rate.parse("3/second"), 10, Refill.INTERVAL);

    @Test
    void charge_betweenRefills_isRefused() {
        Key key = new Key(limit, 0);
        key.charge(10, 0);

        assertThat(key.charge(1, SECOND - 1)).isFalse();
        assertThat(key.charge(3, SECOND)).isTrue();
        assertThat(key.charge(1, 2 * SECOND - 1)).isFalse();
        assertThat(key.charge(4, 2 * SECOND)).isFalse();
        assertThat(key.charge(3, 2 * SECOND)).isTrue();
    }

    @Test
    void charge_refillsComeAtWholePeriodsAfterTheChargeThatFoundItFull() {
        Key key = new Key(limit, 0);
        key.charge(4, SECOND / 2);
        key.charge(6, SECOND);

        assertThat(key.remaining(3 * SECOND / 2 - 1)).isZero();
        assertThat(key.remaining(3 * SECOND / 2)).isEqualTo(3);
        assertThat(key.retryAfter(4, SECOND)).isEqualTo(3 * SECOND / 2);
        assertThat(key.fullAfter(SECOND)).isEqualTo(7 * SECOND / 2);
    }

    @Test
    void charge_fullAgain_startsTheRefillsAnew() {
        Key key = new Key(limit, 0);
        key.charge(3, 0);

        key.charge(10, 5 * SECOND / 2);

        assertThat(key.remaining(7 * SECOND / 2 - 1)).isZero();
        assertThat(key.remaining(7 * SECOND / 2)).isEqualTo(3);
    }

    @Test
    void charge_moreThanCapacity_isNeverAdmitted() {
        Key key = new Key(limit, 0);

        assertThat(key.charge(11, 0)).isFalse();
        assertThat(key.retryAfter(11, 0)).isEqualTo(LimitAlgorithm.NEVER);
    }

    @Test
    void charge_burstBelowOnePeriodsPermits_isRefilledAtOnce() {
        Key key = new Key(TokenBucket.of(Rate.parse("10/second"), 4, Refill.INTERVAL), 0);
        key.charge(4, 0);

        assertThat(key.remaining(SECOND - 1)).isZero();
        assertThat(key.remaining(SECOND)).isEqualTo(4);
        assertThat(key.fullAfter(0)).isEqualTo(SECOND);
    }

    @Test
    void nextAvailable_isTheNextRefill() {
        Key key = new Key(limit, 0);
        key.charge(10, 0);

        assertThat(key.nextAvailable(SECOND / 4)).isEqualTo(3 * SECOND / 4);
        assertThat(key.nextAvailable(4 * SECOND)).isZero();
    }

    @Test
    void refund_givesBackAndNeverAboveFull() {
        Key key = new Key(limit, 0);
        key.charge(10, 0);

        key.refund(4, 0, 0);
        assertThat(key.remaining(0)).isEqualTo(4);
        key.refund(10, 0, 0);
        assertThat(key.remaining(0)).isEqualTo(10);
        assertThat(key.fullAfter(0)).isZero();
    }

    @Test
    void replenish_isWholePeriods() {
        assertThat(limit.replenishNanos()).isEqualTo(4 * SECOND);
    }

    @Test
    void of_fullAfterTheMostThereMayBe_isAccepted() {
        Rate rate = Rate.of(1, Duration.ofNanos(1L << 60));

        assertThat(TokenBucket.of(rate, 4, Refill.INTERVAL).replenishNanos()).isEqualTo(1L << 62);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TokenBucket.of(rate, 5, Refill.INTERVAL))
                .withMessageEndingWith("an empty bucket must be full again within 146 years");
    }
}
