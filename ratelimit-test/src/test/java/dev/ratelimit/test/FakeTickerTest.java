package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FakeTickerTest {

    private final FakeTicker ticker = new FakeTicker(Instant.EPOCH);

    @Test
    void nanos_nobodyAdvances_standsStill() {
        assertThat(ticker.nanos()).isZero();
        assertThat(ticker.nanos()).isZero();
        assertThat(ticker.epochNanos()).isZero();
    }

    @Test
    void advanceOnRead_eachReadingOfEitherClock_movesBoth() {
        ticker.advanceOnRead(Duration.ofNanos(7));

        assertThat(ticker.nanos()).isZero();
        assertThat(ticker.epochNanos()).isEqualTo(7);
        assertThat(ticker.nanos()).isEqualTo(14);
    }

    @Test
    void advanceOnRead_zero_standsStillAgain() {
        ticker.advanceOnRead(Duration.ofNanos(7));
        ticker.nanos();

        ticker.advanceOnRead(Duration.ZERO);

        assertThat(ticker.nanos()).isEqualTo(7);
        assertThat(ticker.nanos()).isEqualTo(7);
    }

    @Test
    void advanceOnRead_negative_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ticker.advanceOnRead(Duration.ofNanos(-1)))
                .withMessage("step must not be negative but was PT-0.000000001S");
    }

    @Test
    void advance_alarmReadsAMovingClock_timeNeverGoesBack() {
        List<Long> rung = new ArrayList<>();
        ticker.advanceOnRead(Duration.ofNanos(7));
        ticker.schedule(() -> rung.add(ticker.nanos()), 10);
        ticker.schedule(() -> rung.add(ticker.nanos()), 11);

        ticker.advanceNanos(12);

        assertThat(rung).containsExactly(10L, 17L);
        assertThat(ticker.nanos()).isEqualTo(24);
    }

    @Test
    void advance_forCenturies_wrapsAround() {
        ticker.advanceNanos(Long.MAX_VALUE);
        long before = ticker.nanos();

        ticker.advanceNanos(5);

        assertThat(ticker.nanos() - before).isEqualTo(5);
    }

    @Test
    void advance_alarmFellDueByReading_ringsIt() {
        List<Long> rung = new ArrayList<>();
        ticker.advanceOnRead(Duration.ofNanos(7));
        ticker.schedule(() -> rung.add(ticker.nanos()), 5);

        ticker.nanos();
        assertThat(rung).isEmpty();
        ticker.advanceNanos(0);
        assertThat(rung).containsExactly(7L);
    }
}
