package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SlidingWindowTest {

    private static final long SECOND = 1_000_000_000;
    private static final long MINUTE = 60 * SECOND;

    /** 100 per minute; 40 were admitted in the previous minute, and 80 so far in the current one. */
    private static Key previous40current80(Rounding rounding) {
        Key key = new Key(SlidingWindow.of(Rate.parse("100/minute"), rounding), 0);
        key.charge(40, 0);
        key.charge(60, MINUTE);
        key.charge(20, MINUTE + 30 * SECOND);
        return key;
    }

    @Test
    void charge_workedExample_isRefusedAt30AndAdmittedAt40Seconds() {
        Key key = previous40current80(Rounding.EXACT);

        assertThat(key.charge(1, MINUTE + 30 * SECOND)).isFalse();
        assertThat(key.remaining(MINUTE + 40 * SECOND)).isEqualTo(6);
        assertThat(key.charge(1, MINUTE + 40 * SECOND)).isTrue();
        assertThat(key.remaining(MINUTE + 40 * SECOND)).isEqualTo(5);
    }

    @Test
    void retryAfter_workedExample_isToTheNanosecond() {
        Key key = previous40current80(Rounding.EXACT);

        assertThat(key.retryAfter(1, MINUTE + 30 * SECOND)).isEqualTo(1_500_000_000);
        assertThat(key.charge(1, MINUTE + 31_500_000_000L - 1)).isFalse();
        assertThat(key.charge(1, MINUTE + 31_500_000_000L)).isTrue();
    }

    @Test
    void retryAfter_roundingFloor_isOneNanosecondAfterTheEstimateWasWhole() {
        Key key = previous40current80(Rounding.FLOOR);

        assertThat(key.charge(1, MINUTE + 30 * SECOND)).isFalse();
        assertThat(key.retryAfter(1, MINUTE + 30 * SECOND)).isEqualTo(1);
        assertThat(key.charge(1, MINUTE + 30 * SECOND + 1)).isTrue();
        assertThat(key.charge(1, MINUTE + 30 * SECOND + 1)).isFalse();
    }

    @Test
    void retryAfter_thisWindowAloneIsTooMuch_reachesIntoTheNext() {
        Key key = new Key(SlidingWindow.of(Rate.parse("100/minute")), 0);
        key.charge(80, 0);

        assertThat(key.retryAfter(50, 0)).isEqualTo(MINUTE + MINUTE * 3 / 8);
        assertThat(key.retryAfter(100, 0)).isEqualTo(2 * MINUTE);
        assertThat(key.retryAfter(101, 0)).isEqualTo(LimitAlgorithm.NEVER);
    }

    @ParameterizedTest
    @EnumSource(Rounding.class)
    void charge_twoIdleWindows_startAnew(Rounding rounding) {
        Key key = new Key(SlidingWindow.of(Rate.parse("100/minute"), rounding), 0);
        key.charge(100, 0);

        assertThat(key.fullAfter(0)).isEqualTo(2 * MINUTE);
        assertThat(key.charge(100, 2 * MINUTE + 7)).isTrue();
        assertThat(key.fullAfter(2 * MINUTE + 7)).isEqualTo(2 * MINUTE);
    }

    @Test
    void fullAfter_onlyThePreviousWindowWasUsed_isTheEndOfThisOne() {
        Key key = new Key(SlidingWindow.of(Rate.parse("100/minute")), 0);
        key.charge(100, 0);

        assertThat(key.fullAfter(MINUTE + 7)).isEqualTo(MINUTE - 7);
        assertThat(key.remaining(MINUTE)).isZero();
        assertThat(key.remaining(MINUTE + 30 * SECOND)).isEqualTo(50);
        assertThat(key.nextAvailable(MINUTE)).isEqualTo(MINUTE / 100);
    }

    @Test
    void refund_givesToTheWindowThatWasCharged() {
        Key key = new Key(SlidingWindow.of(Rate.parse("100/minute")), 0);
        key.charge(50, 0);
        key.charge(40, MINUTE);

        key.refund(50, MINUTE, MINUTE);
        assertThat(key.remaining(MINUTE)).isEqualTo(60);
        key.refund(40, 0, MINUTE);
        assertThat(key.remaining(MINUTE)).isEqualTo(100);
        assertThat(key.fullAfter(MINUTE)).isZero();
    }

    @Test
    void refund_chargedLongerAgo_givesNothing() {
        Key key = new Key(SlidingWindow.of(Rate.parse("100/minute")), 0);
        key.charge(10, 0);
        key.charge(20, MINUTE);
        key.charge(30, 2 * MINUTE);

        key.refund(10, 2 * MINUTE, 2 * MINUTE);

        assertThat(key.remaining(2 * MINUTE)).isEqualTo(50);
    }

    @Test
    void adopt_otherLimitAndSameWindow_keepsTheShareThatIsUsed() {
        Key key = previous40current80(Rounding.EXACT);

        Key adopted = key.adoptedBy(SlidingWindow.of(Rate.parse("50/minute")), MINUTE + 30 * SECOND);

        assertThat(adopted.remaining(MINUTE + 30 * SECOND)).isZero();
        assertThat(adopted.remaining(MINUTE + 45 * SECOND)).isEqualTo(5);
    }

    @Test
    void adopt_otherWindow_isOverInTheSamePart() {
        Key key = previous40current80(Rounding.EXACT);

        Key adopted = key.adoptedBy(SlidingWindow.of(Rate.parse("100/2 minutes")), MINUTE + 30 * SECOND);

        assertThat(adopted.remaining(MINUTE + 30 * SECOND)).isZero();
        assertThat(adopted.remaining(2 * MINUTE)).isEqualTo(10);
        assertThat(adopted.fullAfter(2 * MINUTE)).isEqualTo(3 * MINUTE - 30 * SECOND);
    }

    @Test
    void adopt_otherKind_isDeclined() {
        LimitAlgorithm limit = SlidingWindow.of(Rate.parse("100/minute"));

        assertThat(limit.adopt(new long[3], 0, TokenBucket.of(Rate.parse("100/minute")), new long[1], 0))
                .isFalse();
    }

    @Test
    void of_tooMuchOrTooLong_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SlidingWindow.of(Rate.parse("10/month")))
                .withMessage("a sliding window cannot follow the calendar and is at most 73 years long;"
                        + " for 10/month use algorithm fixed-window with align: clock");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SlidingWindow.of(Rate.of(1, Duration.ofDays(27_000))))
                .withMessageContaining("at most 73 years long");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SlidingWindow.of(Rate.parse("4611686018427387905/s")))
                .withMessage("a sliding window holds at most 4611686018427387904 permits"
                        + " but was given 4611686018427387905/second");
        assertThat(SlidingWindow.of(Rate.parse("4611686018427387904/s")).capacity())
                .isEqualTo(1L << 62);
        assertThat(SlidingWindow.of(Rate.of(1, Duration.ofNanos(Long.MAX_VALUE / 4)))
                        .replenishNanos())
                .isEqualTo(Long.MAX_VALUE / 4);
    }

    @Test
    void toString_namesWhatIsNotTheDefault() {
        assertThat(SlidingWindow.of(Rate.parse("10/s"))).hasToString("10/second (sliding-window)");
        assertThat(SlidingWindow.of(Rate.parse("10/s"), Rounding.FLOOR))
                .hasToString("10/second (sliding-window, rounding floor)");
        assertThat(SlidingWindow.of(Rate.parse("10/s")).rounding()).isEqualTo(Rounding.EXACT);
    }
}
