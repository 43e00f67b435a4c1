package dev.ratelimit.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocalLimitsTest {

    private static final Rate TEN = Rate.parse("10/minute");
    private static final Rate ONE = Rate.parse("1/minute");

    @Test
    void of_severalLimits_areSplit() {
        Policy policy = Policy.of("p", FixedWindow.of(TEN), SlidingLog.of(TEN));
        LocalLimits limits = new LocalLimits(1);
        List<Policy> single = limits.of(policy);

        assertThat(single)
                .hasSize(2)
                .doesNotHaveDuplicates()
                .allMatch(one -> one.limits().size() == 1);
        assertThat(limits.of(policy)).isSameAs(single);
        assertThat(limits.of(Policy.of("q", FixedWindow.of(TEN)))).doesNotContainAnyElementsOf(single);
    }

    @Test
    void of_policyOfSameNameWithOtherLimits_usesTheSameBudgets() {
        LocalLimits limits = new LocalLimits(1);
        String before = limits.of(Policy.of("p", FixedWindow.of(TEN))).get(0).name();

        assertThat(limits.of(Policy.of("p", FixedWindow.of(ONE))).get(0).name()).isEqualTo(before);
    }

    @Test
    void of_policyWithAPenalty_eachShareHasIt() {
        Policy policy = Policy.of("p", FixedWindow.of(TEN), SlidingLog.of(TEN)).withPenalty(Duration.ofMinutes(5));

        assertThat(new LocalLimits(0.1).of(policy))
                .extracting(Policy::limits)
                .containsExactly(
                        Policy.of("a", FixedWindow.of(ONE))
                                .withPenalty(Duration.ofMinutes(5))
                                .limits(),
                        Policy.of("a", SlidingLog.of(ONE))
                                .withPenalty(Duration.ofMinutes(5))
                                .limits());
    }

    @Test
    void of_tenThousandPolicies_areRememberedAndNoMore() {
        LocalLimits limits = new LocalLimits(1);
        List<Policy> first = limits.of(Policy.of("0", FixedWindow.of(TEN)));
        for (int i = 1; i < 10_000; i++) {
            limits.of(Policy.of(Integer.toString(i), FixedWindow.of(TEN)));
        }
        assertThat(limits.of(Policy.of("0", FixedWindow.of(TEN)))).isSameAs(first);

        limits.of(Policy.of("10000", FixedWindow.of(TEN)));

        assertThat(limits.of(Policy.of("0", FixedWindow.of(TEN)))).isNotSameAs(first);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -0.5, 1.01, Double.NaN, Double.POSITIVE_INFINITY})
    void share_outOfRange_isRejected(double share) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LocalLimits(share))
                .withMessage("local share must be above 0 and at most 1 but was " + share);
    }
}
