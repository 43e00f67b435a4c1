package dev.ratelimit.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class InFlightTest {

    private static final long SECOND = 1_000_000_000L;

    private final FakeTicker ticker = new FakeTicker();
    private final InFlight inFlight = new InFlight(ticker);

    private void call(String key, long bound) {
        long sent = ticker.nanos();
        assertThat(inFlight.enter(key)).isTrue();
        inFlight.bound(key, bound, SECOND, sent);
        inFlight.leave(key);
    }

    @Test
    void bound_ofAKeyWithoutCalls_holdsUntilItEnds() {
        call("a", 1);

        assertThat(inFlight.enter("a")).isTrue();
        assertThat(inFlight.enter("a")).isFalse();

        ticker.advance(Duration.ofSeconds(1));
        assertThat(inFlight.enter("a")).isTrue();
    }

    @Test
    void bound_ofAnAnswerToAnOlderCall_mayLowerTheBoundButNotLiftIt() {
        long sent = ticker.nanos();
        for (int i = 0; i < 3; i++) {
            assertThat(inFlight.enter("a")).isTrue();
        }
        ticker.advance(Duration.ofMillis(1));
        inFlight.bound("a", 4, SECOND, ticker.nanos());

        inFlight.bound("a", 5, SECOND, sent);
        assertThat(inFlight.enter("a")).isTrue();
        assertThat(inFlight.enter("a")).isFalse();

        inFlight.bound("a", 2, SECOND, sent);
        inFlight.leave("a");
        assertThat(inFlight.enter("a")).isFalse();
    }

    @Test
    void bound_ofANewKeyAfterVeryManyOthers_holds() {
        IntStream.range(0, 20_000).forEach(i -> call("key" + i, 1));

        call("new", 1);

        assertThat(inFlight.enter("new")).isTrue();
        assertThat(inFlight.enter("new")).isFalse();
    }

    @Test
    void bounds_ofVeryManyKeys_areForgottenFromTheOldest() {
        IntStream.range(0, 10_000).forEach(i -> call("key" + i, 1));

        call("new", 1);

        assertThat(inFlight.keys()).isEqualTo(10_000);
        assertThat(List.of(inFlight.enter("key1"), inFlight.enter("key1"))).containsExactly(true, false);
        assertThat(List.of(inFlight.enter("key0"), inFlight.enter("key0"))).containsExactly(true, true);
    }

    @Test
    void bound_ofAKeyThatHasNoneAnyMore_isForgotten() {
        call("a", 1);

        call("a", Long.MAX_VALUE);

        assertThat(inFlight.keys()).isZero();
    }
}
