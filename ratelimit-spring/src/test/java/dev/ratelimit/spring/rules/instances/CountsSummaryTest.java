package dev.ratelimit.spring.rules.instances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import dev.ratelimit.spring.rules.traffic.FrequentKeys.Frequent;
import dev.ratelimit.spring.rules.traffic.Traffic;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an instance tells others, as a text. */
class CountsSummaryTest {

    private final FakeTicker ticker = new FakeTicker(Instant.parse("2027-01-01T12:00:00Z"));
    private final Traffic traffic = new Traffic(ticker, ticker);

    private void refuse(String policy, String key) {
        traffic.count(policy, Outcome.SHADOW_REFUSED);
        traffic.refused(policy, key);
    }

    private CountsSummary told(boolean keys) {
        return CountsSummary.parse(CountsSummary.of(traffic, keys).toString());
    }

    @Test
    void text_hasWhatWasCounted_evenIfNamesHaveSpacesAndLines() {
        refuse("a policy/\u00e4", "al ice\n,1");
        ticker.advance(Duration.ofMinutes(2));
        refuse("a policy/\u00e4", "al ice\n,1");
        traffic.counts("without requests");

        CountsSummary told = told(true);

        assertThat(told.since()).isEqualTo(Instant.parse("2027-01-01T12:00:00Z"));
        assertThat(told.clockMinute()).isEqualTo(traffic.clockMinute());
        assertThat(told.keys()).isTrue();
        assertThat(told.omitted()).isZero();
        assertThat(told.policies()).containsOnlyKeys("a policy/\u00e4");
        CountsSummary.OfPolicy policy = Objects.requireNonNull(told.policies().get("a policy/\u00e4"));
        assertThat(policy.counts()).containsOnlyKeys("shadow-refused").containsEntry("shadow-refused", 2L);
        assertThat(policy.history().get("shadow-refused")).hasSize(60).endsWith(0, 1, 0, 1);
        assertThat(policy.keys()).containsExactly(new Frequent("al ice\n,1", 2, 0));
    }

    @Test
    void policyWithoutRequestsInTheLastHour_keepsItsCounts() {
        refuse("p", "alice");
        ticker.advance(Duration.ofHours(3));

        CountsSummary.OfPolicy policy =
                Objects.requireNonNull(told(true).policies().get("p"));

        assertThat(policy.counts()).containsEntry("shadow-refused", 1L);
        assertThat(policy.history().get("shadow-refused")).hasSize(60).containsOnly(0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "p refused 9223372036854775807 9",
                "p refused -1 1",
                "p refused 1 -1",
                "p key k 1 -1",
                "p refused 1",
                "p refused 1 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                        + "1,1,1,1,1,1,1,1,1,1,1",
            })
    void foreignText_isNoSummary(String line) {
        assertThatThrownBy(() -> CountsSummary.parse("1 1 true 0\n" + line + "\n"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> CountsSummary.parse("1 1 true 0\n" + "p refused 1 1\n".repeat(10_000)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void manyPolicies_areToldWithoutTheirKeys_beforeAnyIsLeftOut() {
        for (int policy = 0; policy < 300; policy++) {
            for (int key = 0; key < 20; key++) {
                refuse("policy" + policy, "a key that is not short " + key);
            }
        }

        CountsSummary told = told(true);

        assertThat(told.omitted()).isZero();
        assertThat(told.policies()).hasSize(300);
        assertThat(told.policies().values().stream().mapToInt(one -> one.keys().size()))
                .contains(0, 20);
        assertThat(CountsSummary.of(traffic, true).toString().length()).isLessThanOrEqualTo(CountsSummary.MAX_LENGTH);
    }

    @Test
    void keys_areLeftOut_unlessTheyMayBeTold() {
        refuse("p", "alice");

        assertThat(CountsSummary.of(traffic, false).toString()).doesNotContain("alice");
        assertThat(told(false).keys()).isFalse();
    }

    @Test
    void outcomeOfALaterVersion_isKept() {
        CountsSummary told = CountsSummary.parse("1 2 false 3\np queued 7 4,3\n");

        assertThat(Objects.requireNonNull(told.policies().get("p")).counts()).containsEntry("queued", 7L);
        assertThat(told.omitted()).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1 2 true",
                "x 2 true 0",
                "1 2 true 0\np",
                "1 2 true 0\np admitted",
                "1 2 true 0\np admitted x 1",
                "1 2 true 0\np admitted 1 1,",
                "1 2 true 0\n%zz admitted 1 1",
                "1 2 true 0\np key alice 1"
            })
    void otherText_isRefused(String text) {
        assertThatThrownBy(() -> CountsSummary.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("not a summary: ");
    }

    @Test
    void moreMinutesThanAnHourHas_areRefused() {
        assertThatThrownBy(() -> CountsSummary.parse("1 2 true 0\np admitted 1 " + "1,".repeat(60) + "1"))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
