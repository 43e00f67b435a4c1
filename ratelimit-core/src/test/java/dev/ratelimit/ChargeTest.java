package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import org.junit.jupiter.api.Test;

class ChargeTest {

    private static final Policy POLICY = Policy.of("p", TokenBucket.of(Rate.parse("10/second")));

    @Test
    void new_negativePermits_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> POLICY.charge("k", -1))
                .withMessage("permits must be at least 0 but was -1");
    }

    @Test
    void new_noPermits_isTaken() {
        assertThat(POLICY.charge("k", 0).permits()).isZero();
    }

    @Test
    void sameBudget_samePolicyNameAndKey() {
        Policy changed = Policy.of("p", SlidingLog.of(Rate.parse("5/second")));
        Policy other = Policy.of("q", TokenBucket.of(Rate.parse("10/second")));

        assertThat(POLICY.charge("k").sameBudget(changed.charge("k", 2))).isTrue();
        assertThat(POLICY.charge("k").sameBudget(POLICY.charge("l"))).isFalse();
        assertThat(POLICY.charge("k").sameBudget(other.charge("k"))).isFalse();
    }

    @Test
    void plus_tooMuchForALong_isTheMost() {
        assertThat(POLICY.charge("k", 2).plus(3)).isEqualTo(POLICY.charge("k", 5));
        assertThat(POLICY.charge("k", Long.MAX_VALUE).plus(1)).isEqualTo(POLICY.charge("k", Long.MAX_VALUE));
        assertThat(POLICY.charge("k", Long.MAX_VALUE).plus(Long.MAX_VALUE).permits())
                .isEqualTo(Long.MAX_VALUE);
    }
}
