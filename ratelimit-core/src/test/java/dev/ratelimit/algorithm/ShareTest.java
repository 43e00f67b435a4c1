package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShareTest {

    private static final Rate TEN = Rate.parse("10/minute");
    private static final Rate ONE = Rate.parse("1/minute");

    static Stream<Function<Rate, LimitAlgorithm>> kinds() {
        return Stream.of(
                TokenBucket::of,
                rate -> TokenBucket.of(rate, 3 * rate.permits(), TokenBucket.Refill.INTERVAL),
                FixedWindow::of,
                rate -> FixedWindow.onClock(rate, ZoneOffset.UTC),
                rate -> FixedWindow.onClock(new Rate(rate.permits(), Period.ofMonths(1)), ZoneId.of("Asia/Tokyo")),
                SlidingWindow::of,
                rate -> SlidingWindow.of(rate, SlidingWindow.Rounding.FLOOR),
                SlidingLog::of);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void scaled_anyKind_isTheSameKindWithFewerPermits(Function<Rate, LimitAlgorithm> kind) {
        assertThat(kind.apply(TEN).scaled(0.1)).isEqualTo(kind.apply(ONE));
        assertThat(kind.apply(TEN).scaled(1)).isEqualTo(kind.apply(TEN));
    }

    @Test
    void scaled_shareBelowOnePermit_isOne() {
        assertThat(FixedWindow.of(TEN).scaled(0.01)).isEqualTo(FixedWindow.of(ONE));
    }

    @Test
    void scaled_tenTenthsOfABucket_comeBackNoFasterThanTheWhole() {
        LimitAlgorithm whole = TokenBucket.of(Rate.parse("1/second"), 100);

        assertThat(whole.scaled(0.1)).isEqualTo(TokenBucket.of(Rate.parse("1/10s"), 10));
        assertThat(TokenBucket.of(Rate.parse("3/hour")).scaled(0.1))
                .isEqualTo(TokenBucket.of(Rate.parse("1/12000s"), 1));
        assertThat(TokenBucket.of(Rate.parse("3/hour"), 3, TokenBucket.Refill.INTERVAL)
                        .scaled(0.1))
                .isEqualTo(TokenBucket.of(Rate.parse("1/12000s"), 1, TokenBucket.Refill.INTERVAL));
    }

    @Test
    void scaled_shareOfTinyRates_canStillBeKept() {
        LimitAlgorithm slow = TokenBucket.of(Rate.parse("1/25000d"));

        assertThat(slow.scaled(1e-300).capacity()).isEqualTo(1);
        assertThat(slow.scaled(1.0 / 3).rate().permits()).isEqualTo(1);
    }

    @Test
    void scaled_share_isExactWhereDoublesAreNot() {
        LimitAlgorithm limit = FixedWindow.of(Rate.parse("1000000000000000/minute"));

        assertThat(limit.scaled(0.3).capacity()).isEqualTo(300_000_000_000_000L);
        assertThat(FixedWindow.of(Rate.parse("100/minute")).scaled(0.29).capacity())
                .isEqualTo(29);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -0.5, 1.01, Double.NaN, Double.POSITIVE_INFINITY})
    void scaled_shareOutOfRange_isRejected(double share) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FixedWindow.of(TEN).scaled(share))
                .withMessage("share must be above 0 and at most 1 but was " + share);
    }
}
