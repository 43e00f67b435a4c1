package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.algorithm.FixedWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DecisionTest {

    private static final Policy POLICY = Policy.of("p", FixedWindow.of(Rate.parse("10/second")));

    @Test
    void violated_severalRefuse_longestWaitFirst() {
        LimitStatus quick = status(3);
        LimitStatus slow = status(7);
        Decision decision = new Decision(false, List.of(quick, status(0), slow), 0);

        assertThat(decision.violated()).containsExactly(slow, quick);
        assertThat(decision.retryAfter()).isEqualTo(Duration.ofNanos(7));
        assertThat(decision.never()).isFalse();
    }

    @Test
    void never_oneLimitIsTooSmall_noWaitHelps() {
        Decision decision = new Decision(false, List.of(status(Limit.NEVER), status(7)), 0);

        assertThat(decision.never()).isTrue();
        assertThat(decision.retryAfterNanos()).isEqualTo(Limit.NEVER);
    }

    @Test
    void violated_admitted_isEmpty() {
        Decision decision = new Decision(true, List.of(status(0)), 0);

        assertThat(decision.violated()).isEmpty();
        assertThat(decision.retryAfterNanos()).isZero();
        assertThat(decision.never()).isFalse();
    }

    @Test
    void new_limits_areCopied() {
        List<LimitStatus> limits = new ArrayList<>(List.of(status(0)));
        Decision decision = new Decision(true, limits, 0);

        limits.clear();

        assertThat(decision.limits()).containsExactly(status(0));
    }

    @Test
    void status_times_areDurations() {
        LimitStatus status = new LimitStatus(POLICY, POLICY.limits().get(0), 1, 2, 3, 4);

        assertThat(status.nextAvailable()).isEqualTo(Duration.ofNanos(3));
        assertThat(status.fullAfter()).isEqualTo(Duration.ofNanos(4));
        assertThat(status.admitted()).isFalse();
    }

    private static LimitStatus status(long retryAfterNanos) {
        return new LimitStatus(POLICY, POLICY.limits().get(0), 0, retryAfterNanos, 0, 0);
    }
}
