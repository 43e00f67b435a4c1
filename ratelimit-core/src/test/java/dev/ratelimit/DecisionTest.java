package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.algorithm.FixedWindow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class DecisionTest {

    private static final Policy POLICY = Policy.of("p", FixedWindow.of(Rate.parse("10/second")));

    @Test
    void violated_severalRefuse_longestWaitFirst() {
        LimitStatus quick = status(3);
        LimitStatus slow = status(7);
        Decision decision = new Decision(false, List.of(), List.of(quick, status(0), slow), null);

        assertThat(decision.violated()).containsExactly(slow, quick);
        assertThat(decision.retryAfter()).isEqualTo(Duration.ofNanos(7));
    }

    @Test
    void never_oneLimitIsTooSmall_noWaitHelps() {
        Decision decision = new Decision(false, List.of(), List.of(status(LimitAlgorithm.NEVER), status(7)), null);

        assertThat(decision.retryAfter()).isNull();
        assertThat(status(LimitAlgorithm.NEVER).retryAfter()).isNull();
        assertThat(decision.retryAfterNanos()).isEqualTo(LimitAlgorithm.NEVER);
    }

    @Test
    void violated_admitted_isEmpty() {
        Decision decision = new Decision(true, List.of(), List.of(status(0)), null);

        assertThat(decision.violated()).isEmpty();
        assertThat(decision.retryAfterNanos()).isZero();
    }

    @Test
    void complete_limitsAreLeftOut_isFalse() {
        Charge charge = POLICY.charge("k");

        assertThat(new Decision(true, List.of(charge), List.of(status(0)), null).complete())
                .isTrue();
        assertThat(new Decision(true, List.of(charge), List.of(), null).complete())
                .isFalse();
    }

    @Test
    void indexOf_partOfACharge_isItsPosition() {
        List<Charge> charges = List.of(POLICY.charge("from", 3), POLICY.charge("to", 3));
        Decision decision = new Decision(true, charges, List.of(), null);

        assertThat(decision.indexOf(POLICY.charge("to", 3))).isEqualTo(1);
        assertThat(decision.indexOf(POLICY.charge("from", 0))).isZero();
    }

    @Test
    void indexOf_notAPart_isRefused() {
        Decision decision = new Decision(true, List.of(POLICY.charge("from", 3)), List.of(), null);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> decision.indexOf(POLICY.charge("from", 4)))
                .withMessage("permits to refund must be at most the 3 charged to policy p but was 4");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> decision.indexOf(POLICY.charge("to", 1)))
                .withMessage("the decision did not charge this budget of policy p");
    }

    @Test
    void toString_status_tellsNoKey() {
        assertThat(new Decision(false, List.of(), List.of(status(7)), null))
                .asString()
                .doesNotContain("secret");
    }

    @Test
    void toString_statusThatAdmits_tellsNoRetry() {
        assertThat(new LimitStatus(POLICY.charge("k"), POLICY.limits().get(0), 0, 0, 3_000_000_000L, 6_000_000_000L))
                .asString()
                .endsWith(": 0 remaining, more after PT3S, full after PT6S");
        assertThat(status(2_000_000_000L)).asString().endsWith(": 0 remaining, retry after PT2S");
        assertThat(status(LimitAlgorithm.NEVER)).asString().endsWith(": 0 remaining, retry never");
        assertThat(status(0)).asString().endsWith(": 0 remaining");
    }

    @Test
    void status_times_areDurations() {
        LimitStatus status = new LimitStatus(POLICY.charge("k"), POLICY.limits().get(0), 1, 2, 3, 4);

        assertThat(status.nextAvailable()).isEqualTo(Duration.ofNanos(3));
        assertThat(status.fullAfter()).isEqualTo(Duration.ofNanos(4));
        assertThat(status.admitted()).isFalse();
    }

    private static LimitStatus status(long retryAfterNanos) {
        return new LimitStatus(POLICY.charge("secret"), POLICY.limits().get(0), 0, retryAfterNanos, 0, 0);
    }
}
