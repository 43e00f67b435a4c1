package dev.ratelimit.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PlacesTest {

    private static final long SHIFT = 1_000;

    private final Places places = new Places(2, SHIFT, 0);

    private AtomicInteger take(long now) {
        return Objects.requireNonNull(places.take(now));
    }

    @Test
    void take_allAreTaken_hasNoneUntilOneIsLeft() {
        AtomicInteger first = take(1);
        take(1);
        assertThat(places.take(1)).isNull();

        first.decrementAndGet();

        take(2);
        assertThat(places.take(2)).isNull();
    }

    @Test
    void take_nextShift_countsThoseOfTheShiftBefore() {
        AtomicInteger first = take(SHIFT - 1);

        take(SHIFT);
        assertThat(places.take(SHIFT)).isNull();

        first.decrementAndGet();
        take(SHIFT);
    }

    @Test
    void take_lostPlaces_areFreeAfterTwoShifts() {
        Stream<AtomicInteger> lost = Stream.of(take(0), take(1));
        assertThat(places.take(SHIFT)).isNull();

        take(2 * SHIFT);
        AtomicInteger last = take(2 * SHIFT);

        // somebody who was only late frees nothing a second time
        lost.forEach(AtomicInteger::decrementAndGet);
        assertThat(places.take(2 * SHIFT)).isNull();
        last.decrementAndGet();
        take(2 * SHIFT);
    }
}
