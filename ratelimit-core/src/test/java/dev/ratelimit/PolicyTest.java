package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PolicyTest {

    private static final Limit LIMIT = TokenBucket.of(Rate.parse("10/second"));

    @ParameterizedTest
    @ValueSource(strings = {"", "a\"b", "a\\b", "a\nb", "a\u0000", "\u00e9", "\u007f", "\ud83d\ude00"})
    void new_nameUnfitForAHeader_isRefused(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Policy.of(name, LIMIT))
                .withMessage("name must be 1 to 100 printable ASCII characters without quotes and backslashes");
    }

    @Test
    void new_nameOfUpTo100Characters_isTaken() {
        assertThat(Policy.of("n".repeat(100), LIMIT).name()).hasSize(100);
        assertThat(Policy.of(" ~", LIMIT).name()).isEqualTo(" ~");
        assertThatIllegalArgumentException().isThrownBy(() -> Policy.of("n".repeat(101), LIMIT));
    }

    @Test
    void new_noLimits_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Policy.of("p"))
                .withMessage("limits must not be empty in policy p");
    }

    @Test
    void new_limits_areCopied() {
        List<Limit> limits = new ArrayList<>(List.of(LIMIT));
        Policy policy = new Policy("p", limits);

        limits.add(FixedWindow.of(Rate.parse("1/hour")));

        assertThat(policy.limits()).containsExactly(LIMIT);
        assertThat(policy).isEqualTo(Policy.of("p", TokenBucket.of(Rate.parse("10/second"))));
    }

    @Test
    void charge_isOnePermitOfTheKey() {
        Policy policy = Policy.of("p", LIMIT);

        assertThat(policy.charge()).isEqualTo(new Charge(policy, "", 1));
        assertThat(policy.charge("k")).isEqualTo(new Charge(policy, "k", 1));
        assertThat(policy.charge("k", 3)).isEqualTo(new Charge(policy, "k", 3));
    }

    @Test
    void limits_ratesAndConcurrency_areRejected() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Policy.of("exports", FixedWindow.of(Rate.parse("5/hour")), Concurrency.of(2)))
                .withMessage("limits must be all rates or all concurrency limits but policy exports has both; "
                        + "write two policies, such as exports and exports/concurrency, and charge both");
    }

    @Test
    void concurrency_isThatOfTheLimits() {
        assertThat(Policy.of("slots", Concurrency.of(2)).concurrency()).isTrue();
        assertThat(Policy.of("rate", FixedWindow.of(Rate.parse("5/hour"))).concurrency())
                .isFalse();
    }

    @Test
    void rank_limitsInAnyOrder_isByPeriodFromTheLongestOn() {
        Limit day = FixedWindow.of(Rate.parse("1/day"));
        Limit alsoDay = TokenBucket.of(Rate.parse("5/day"));
        Policy policy = Policy.of("p", LIMIT, day, FixedWindow.of(Rate.parse("9/hour")), alsoDay);

        assertThat(List.of(policy.rank(0), policy.rank(1), policy.rank(2), policy.rank(3)))
                .containsExactly(3, 0, 2, 1);
    }
}
