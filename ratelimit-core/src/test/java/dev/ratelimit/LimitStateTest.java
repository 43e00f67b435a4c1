package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.algorithm.FixedWindow;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LimitStateTest {

    private static final LimitAlgorithm TEN = FixedWindow.of(Rate.parse("10/minute"));
    private static final LimitAlgorithm TWENTY = FixedWindow.of(Rate.parse("20/minute"));

    private final long[] state = new long[TWENTY.stateSize()];

    @Test
    void refused_questionWhileMoreIsUsedThanTheCapacity_tellsTheWait() {
        TWENTY.clear(state, 0, 0);
        TWENTY.charge(state, 0, 15, 0);

        LimitStatus status =
                new LimitState(TEN, state, 0).refused(Policy.of("p", TEN).charge("k", 0), 0, 1);

        assertThat(status.admitted()).isFalse();
        assertThat(status.retryAfter()).isEqualTo(Duration.ofMinutes(1).minusNanos(1));
    }

    @Test
    void admitted_exhausted_hasNoWait() {
        TEN.clear(state, 0, 0);
        TEN.charge(state, 0, 10, 0);

        LimitStatus status =
                new LimitState(TEN, state, 0).admitted(Policy.of("p", TEN).charge("k", 10), 1);

        assertThat(status.admitted()).isTrue();
        assertThat(status.remaining()).isZero();
        assertThat(status.nextAvailable()).isEqualTo(Duration.ofMinutes(1).minusNanos(1));
    }
}
