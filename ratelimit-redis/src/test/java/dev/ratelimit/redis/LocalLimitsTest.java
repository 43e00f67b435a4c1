package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class LocalLimitsTest {

    private static final Rate TEN = Rate.parse("10/minute");
    private static final Rate ONE = Rate.parse("1/minute");

    static Stream<Function<Rate, Limit>> kinds() {
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
    void of_anyKind_isTheSameKindWithFewerPermits(Function<Rate, Limit> kind) {
        LocalLimits tenth = new LocalLimits(0.1);

        assertThat(tenth.of(kind.apply(TEN))).isEqualTo(kind.apply(ONE));
        assertThat(new LocalLimits(1).of(kind.apply(TEN))).isEqualTo(kind.apply(TEN));
    }

    @Test
    void of_shareBelowOnePermit_isOne() {
        assertThat(new LocalLimits(0.01).of(FixedWindow.of(TEN))).isEqualTo(FixedWindow.of(ONE));
    }

    @Test
    void of_share_isExactWhereDoublesAreNot() {
        Limit limit = FixedWindow.of(Rate.parse("1000000000000000/minute"));

        assertThat(new LocalLimits(0.3).of(limit).capacity()).isEqualTo(300_000_000_000_000L);
        assertThat(new LocalLimits(0.29)
                        .of(FixedWindow.of(Rate.parse("100/minute")))
                        .capacity())
                .isEqualTo(29);
    }

    @Test
    void of_policy_isAnotherObjectAndSplit() {
        Policy policy = Policy.of("p", FixedWindow.of(TEN), SlidingLog.of(TEN));
        LocalLimits limits = new LocalLimits(1);
        LocalLimits.Share share = limits.of(policy);

        assertThat(share.policy()).isEqualTo(policy).isNotSameAs(policy);
        assertThat(share.single())
                .hasSize(2)
                .doesNotHaveDuplicates()
                .allMatch(single -> single.limits().size() == 1);
        assertThat(limits.of(policy)).isSameAs(share);
        assertThat(limits.of(Policy.of("q", FixedWindow.of(TEN))).single()).doesNotContainAnyElementsOf(share.single());
    }

    @Test
    void of_policyOfSameNameWithOtherLimits_usesTheSameBudgets() {
        LocalLimits limits = new LocalLimits(1);
        String before =
                limits.of(Policy.of("p", FixedWindow.of(TEN))).single().get(0).name();

        assertThat(limits.of(Policy.of("p", FixedWindow.of(ONE)))
                        .single()
                        .get(0)
                        .name())
                .isEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -0.5, 1.01, Double.NaN, Double.POSITIVE_INFINITY})
    void share_outOfRange_isRejected(double share) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LocalLimits(share))
                .withMessage("local share must be above 0 and at most 1 but was " + share);
    }
}
