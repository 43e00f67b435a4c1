package dev.ratelimit.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class BreakerTest {

    private static final Duration OPEN_FOR = Duration.ofSeconds(1);

    private final FakeTicker time = new FakeTicker();
    private final Breaker breaker = new Breaker(time, 3, OPEN_FOR.toNanos(), new Random(1));

    private boolean ask(boolean fails) {
        return breaker.record(fails);
    }

    private void open() {
        for (int i = 0; i < 3; i++) {
            ask(true);
        }
        assertThat(breaker.open()).isTrue();
    }

    @Test
    void failures_asManyAsAgreed_open() {
        assertThat(ask(true)).isFalse();
        assertThat(ask(true)).isFalse();
        assertThat(breaker.open()).isFalse();

        assertThat(ask(true)).isTrue();
        assertThat(breaker.open()).isTrue();
    }

    @Test
    void failures_spreadOverMoreThanTwentyRequests_doNotOpen() {
        for (int i = 0; i < 100; i++) {
            ask(i % 10 == 0);
        }

        assertThat(breaker.open()).isFalse();
    }

    @Test
    void failures_withinTwentyRequests_open() {
        ask(true);
        for (int i = 0; i < 17; i++) {
            ask(false);
        }
        ask(true);

        assertThat(ask(true)).isTrue();
    }

    @Test
    void failures_ofRequestsThatPassedBefore_openOnce() {
        long opened = IntStream.range(0, 10).filter(i -> ask(true)).count();

        assertThat(opened).isEqualTo(1);
    }

    @RepeatedTest(20)
    void untilProbe_isTheIntervalGiveOrTakeATenth() {
        open();
        breaker.probed(true);

        assertThat(breaker.untilProbeNanos()).isBetween(OPEN_FOR.toNanos() * 9 / 10, OPEN_FOR.toNanos() * 11 / 10);
    }

    @Test
    @DisplayName("however long the outage, the next probe is as near")
    void untilProbe_afterManyFailedProbes_doesNotGrow() {
        open();
        for (int i = 0; i < 1_000; i++) {
            assertThat(breaker.probed(true)).isFalse();
        }

        assertThat(breaker.untilProbeNanos()).isLessThanOrEqualTo(OPEN_FOR.toNanos() * 11 / 10);
    }

    @Test
    void probed_successAfterAnOutage_closesAndForgetsFailures() {
        open();

        assertThat(breaker.probed(false)).isTrue();

        assertThat(breaker.open()).isFalse();
        assertThat(ask(true)).isFalse();
        assertThat(ask(true)).isFalse();
        assertThat(breaker.open()).isFalse();
    }

    @Test
    @DisplayName("a server that fails again soon must answer three probes in a row, at a quarter of the interval")
    void probed_successAfterASecondOutageSoon_closesAtTheThirdInARow() {
        open();
        assertThat(breaker.probed(false)).isTrue();
        time.advance(OPEN_FOR.multipliedBy(10).minusNanos(1));
        open();

        assertThat(breaker.probed(false)).isFalse();
        assertThat(breaker.probed(false)).isFalse();
        assertThat(breaker.probed(true)).isFalse();
        assertThat(breaker.probed(false)).isFalse();
        assertThat(breaker.untilProbeNanos()).isLessThanOrEqualTo(OPEN_FOR.toNanos() * 11 / 40);
        assertThat(breaker.probed(false)).isFalse();
        assertThat(breaker.probed(false)).isTrue();
    }

    @Test
    void probed_successAfterASecondOutageMuchLater_closes() {
        open();
        assertThat(breaker.probed(false)).isTrue();
        time.advance(OPEN_FOR.multipliedBy(10));
        open();

        assertThat(breaker.probed(false)).isTrue();
    }

    @Test
    void probed_closedMeanwhile_changesNothing() {
        assertThat(breaker.probed(false)).isFalse();
        assertThat(breaker.probed(true)).isFalse();

        assertThat(breaker.open()).isFalse();
    }

    @Test
    void lateAnswer_ofRequestFromBefore_doesNotClose() {
        open();

        assertThat(ask(false)).isFalse();

        assertThat(breaker.open()).isTrue();
    }
}
