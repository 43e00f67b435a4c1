package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import org.junit.jupiter.api.Test;

class SlidingLogTest {

    private static final long SECOND = 1_000_000_000;

    /** 10 per minute, admitted at :10 (1), :20 (2), :30 (4) and :50 (3). */
    private static Key workedExample() {
        Key key = new Key(SlidingLog.of(Rate.parse("10/minute")), 0);
        assertThat(key.charge(1, 10 * SECOND)).isTrue();
        assertThat(key.charge(2, 20 * SECOND)).isTrue();
        assertThat(key.charge(4, 30 * SECOND)).isTrue();
        assertThat(key.charge(3, 50 * SECOND)).isTrue();
        return key;
    }

    @Test
    void charge_workedExample_isAdmittedAt71AndRefusedAt72Seconds() {
        Key key = workedExample();

        assertThat(key.charge(1, 71 * SECOND)).isTrue();
        assertThat(key.charge(1, 72 * SECOND)).isFalse();
        assertThat(key.retryAfter(1, 72 * SECOND)).isEqualTo(8 * SECOND);
        assertThat(key.retryAfter(3, 72 * SECOND)).isEqualTo(18 * SECOND);
        assertThat(key.fullAfter(72 * SECOND)).isEqualTo(59 * SECOND);
    }

    @Test
    void charge_exactlyOneWindowLater_countsNoMore() {
        Key key = workedExample();

        assertThat(key.charge(1, 70 * SECOND - 1)).isFalse();
        assertThat(key.charge(1, 70 * SECOND)).isTrue();
    }

    @Test
    void charge_moreThanTheLimit_isNeverAdmitted() {
        Key key = new Key(SlidingLog.of(Rate.parse("10/minute")), 0);

        assertThat(key.charge(11, 0)).isFalse();
        assertThat(key.retryAfter(11, 0)).isEqualTo(LimitAlgorithm.NEVER);
    }

    @Test
    void grow_mostOfTheRingIsEmpty_getsSmallerAndKeepsWhatCounts() {
        Key key = new Key(SlidingLog.of(Rate.parse("1000/minute")), 0);
        key.charge(989, 1 * SECOND);
        key.charge(7, 50 * SECOND);
        key.charge(4, 55 * SECOND);

        key.charge(1, 61 * SECOND);
        assertThat(key.snapshot()).hasSize(2 + 2 * 12);
        assertThat(key.remaining(61 * SECOND)).isEqualTo(988);
        assertThat(key.retryAfter(989, 61 * SECOND)).isEqualTo(49 * SECOND);
        assertThat(key.retryAfter(996, 61 * SECOND)).isEqualTo(54 * SECOND);
        key.charge(1, 200 * SECOND);
        assertThat(key.snapshot()).hasSize(2 + 4);
        key.charge(1, 300 * SECOND);
        assertThat(key.snapshot()).hasSize(2 + 4);
        assertThat(key.fullAfter(300 * SECOND)).isEqualTo(60 * SECOND);
    }

    @Test
    void grow_stateGrowsWithUseUpToTheLimit() {
        Key key = new Key(SlidingLog.of(Rate.parse("1000/minute")), 0);

        assertThat(key.snapshot()).hasSize(6);
        key.charge(5, 1);
        assertThat(key.snapshot()).hasSize(10);
        key.charge(700, 2);
        assertThat(key.snapshot()).hasSize(707);
        key.charge(295, 3);
        assertThat(key.snapshot()).hasSize(1002);
        assertThat(key.remaining(3)).isZero();
    }

    @Test
    void grow_ringThatHasWrapped_keepsTheOrder() {
        Key key = new Key(SlidingLog.of(Rate.parse("10/minute")), 0);
        for (int second = 0; second < 70; second += 20) {
            key.charge(1, second * SECOND);
        }
        key.charge(1, 65 * SECOND);

        key.charge(4, 66 * SECOND);

        assertThat(key.remaining(66 * SECOND)).isEqualTo(2);
        assertThat(key.retryAfter(3, 66 * SECOND)).isEqualTo(14 * SECOND);
        assertThat(key.remaining(80 * SECOND)).isEqualTo(3);
        assertThat(key.remaining(100 * SECOND)).isEqualTo(4);
        assertThat(key.remaining(120 * SECOND)).isEqualTo(5);
        assertThat(key.remaining(125 * SECOND)).isEqualTo(6);
        assertThat(key.remaining(126 * SECOND)).isEqualTo(10);
    }

    @Test
    void grow_idleForLong_reusesWhatItHas() {
        Key key = new Key(SlidingLog.of(Rate.parse("4/second")), 0);
        for (int second = 0; second < 100; second++) {
            assertThat(key.charge(4, second * SECOND)).isTrue();
        }

        assertThat(key.snapshot()).hasSize(6);
    }

    @Test
    void refund_takesOutTheTimesOfTheCharge() {
        Key key = workedExample();

        key.refund(2, 30 * SECOND, 60 * SECOND);

        assertThat(key.remaining(60 * SECOND)).isEqualTo(2);
        assertThat(key.remaining(70 * SECOND)).isEqualTo(3);
        assertThat(key.remaining(80 * SECOND)).isEqualTo(5);
        assertThat(key.remaining(90 * SECOND)).isEqualTo(7);
        assertThat(key.remaining(110 * SECOND)).isEqualTo(10);
    }

    @Test
    void refund_newestTimes_makesTheKeyFullEarlier() {
        Key key = workedExample();

        key.refund(3, 0, 50 * SECOND);

        assertThat(key.fullAfter(50 * SECOND)).isEqualTo(40 * SECOND);
        assertThat(key.charge(3, 50 * SECOND)).isTrue();
    }

    @Test
    void refund_chargedMoreThanAWindowAgo_givesNothing() {
        Key key = workedExample();

        key.refund(1, 61 * SECOND, 71 * SECOND);
        key.refund(5, 7, 71 * SECOND);

        assertThat(key.remaining(71 * SECOND)).isEqualTo(1);
    }

    @Test
    void refund_moreThanChargedThen_takesOnlyThose() {
        Key key = workedExample();

        key.refund(9, 40 * SECOND, 60 * SECOND);

        assertThat(key.remaining(60 * SECOND)).isEqualTo(2);
    }

    @Test
    void of_monthOrTooMany_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SlidingLog.of(Rate.parse("10/month")))
                .withMessage(
                        "a sliding log cannot follow the calendar; for 10/month use algorithm fixed-window with align: clock");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SlidingLog.of(Rate.parse("1000001/s")))
                .withMessage("a sliding log remembers each permit, so it holds at most 1000000 per window"
                        + " but was given 1000001/second; use algorithm sliding-window");
        assertThat(SlidingLog.of(Rate.parse("1000000/s")).capacity()).isEqualTo(1_000_000);
    }

    @Test
    void grow_fitsExactly_isTheSameArray() {
        LimitAlgorithm limit = SlidingLog.of(Rate.parse("10/s"));
        long[] state = new long[limit.stateSize()];
        limit.clear(state, 0, 0);
        limit.charge(state, 0, 1, 0);

        assertThat(limit.grow(state, 0, 3, 1)).isSameAs(state);
        assertThat(limit.grow(state, 0, 4, 1)).hasSizeGreaterThan(state.length);
    }
}
