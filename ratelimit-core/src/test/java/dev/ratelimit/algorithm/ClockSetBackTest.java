package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import dev.ratelimit.Seeds;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Windows of one permit that follow a wall clock, which is set back again and again while real time continues: the
 * steps do not admit anything, and from the first question after a step, nobody waits longer than one period.
 */
class ClockSetBackTest {

    private static final long NONE = Long.MIN_VALUE;

    /** The history of a key. The promise is the real time at which a permit is due by the last decision. */
    private static final class History implements Cloneable {
        private final LimitAlgorithm limit;
        private final long bound;
        private long[] state;
        private long real;
        private long wall;
        private long promise = NONE;
        private boolean setBack;

        /** The latest real time for a permit, by the first question after the clock was set back. */
        private long latest = Long.MAX_VALUE;

        History(LimitAlgorithm limit, long bound, long wall) {
            this.limit = limit;
            this.bound = bound;
            this.wall = wall;
            this.state = new long[limit.stateSize()];
            limit.clear(state, 0, wall);
        }

        @Override
        public History clone() {
            try {
                History copy = (History) super.clone();
                copy.state = state.clone();
                return copy;
            } catch (CloneNotSupportedException e) {
                throw new IllegalStateException(e);
            }
        }

        void pass(long nanos) {
            real += nanos;
            wall += nanos;
        }

        void setBack(long nanos) {
            wall -= nanos;
            setBack = true;
        }

        void ask() {
            if (setBack) {
                latest = real + bound;
            }
            if (limit.admits(state, 0, 1, wall)) {
                check(promise == NONE || real >= promise);
                limit.charge(state, 0, 1, wall);
                promise = real + limit.retryAfterNanos(state, 0, 1, wall);
                check(promise > real && promise <= real + bound);
                latest = Long.MAX_VALUE;
            } else {
                long due = real + limit.retryAfterNanos(state, 0, 1, wall);
                check(due > real && due <= latest);
                check(setBack ? due >= promise : due == promise);
                promise = due;
            }
            setBack = false;
        }

        private void check(boolean holds) {
            if (!holds) {
                throw new AssertionError(limit + " at " + real + ", by the clock " + Instant.ofEpochSecond(0, wall)
                        + ", promised " + promise + ", latest " + latest);
            }
        }
    }

    private static final long[] PASSING = {1, 3, 4};
    private static final long[] SETTING_BACK = {1, 3, 4, 5, 9, 40};

    @Test
    @Tag("slow")
    void onClock_everyHistoryOfAFewSteps_admitsNothingBecauseOfThemAndLocksNobodyOut() {
        LimitAlgorithm limit = FixedWindow.onClock(Rate.of(1, Duration.ofNanos(4)), ZoneOffset.UTC);
        for (int into = 0; into < 4; into++) {
            History history = new History(limit, 4, 1000 + into);
            history.ask();
            everyNext(history, 7);
        }
    }

    private static void everyNext(History history, int steps) {
        if (steps == 0) {
            return;
        }
        for (long nanos : PASSING) {
            History next = history.clone();
            next.pass(nanos);
            everyNext(next, steps - 1);
        }
        for (long nanos : SETTING_BACK) {
            History next = history.clone();
            next.setBack(nanos);
            everyNext(next, steps - 1);
        }
        History asked = history.clone();
        asked.ask();
        everyNext(asked, steps - 1);
    }

    @ParameterizedTest
    @CsvSource({
        "1/hour, UTC, 0",
        "1/day, UTC, 0",
        "1/day, Europe/Berlin, 1",
        "1/day, America/St_Johns, 2",
        "1/day, America/Moncton, 1",
        "1/day, Antarctica/Casey, 3",
        "1/day, Pacific/Apia, 1",
        "1/7d, Australia/Lord_Howe, 1",
        "1/month, UTC, 0",
        "1/month, America/New_York, 1"
    })
    void onClock_randomHistory_admitsNothingBecauseOfThemAndLocksNobodyOut(
            String rate, ZoneId zone, int repeatedHours) {
        long seed = Seeds.next();
        Random random = new Random(seed);
        LimitAlgorithm limit = FixedWindow.onClock(Rate.parse(rate), zone);
        long period = limit.replenishNanos();
        long bound = period + Duration.ofHours(repeatedHours).toNanos();

        for (int i = 0; i < 200; i++) {
            long start = random.nextLong(Duration.ofDays(70 * 365).toNanos());
            History history = new History(limit, bound, start);
            try {
                for (int step = 0; step < 100; step++) {
                    switch (random.nextInt(8)) {
                        case 0, 1 -> history.pass(random.nextLong(period / 10));
                        case 2 -> history.pass(random.nextLong(period));
                        case 3 -> history.setBack(random.nextLong(period / (1 + random.nextInt(20))) + 1);
                        case 4 -> history.setBack(random.nextInt(3) == 0 ? random.nextLong(10 * period) : 1);
                        default -> history.ask();
                    }
                }
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ", history " + i, e);
            }
        }
    }

    @Test
    void onClock_setBackWithinTheWindow_lastsUntilItsEnd() {
        long now = nanos("2026-03-01T10:45:00Z");
        Key key = new Key(FixedWindow.onClock(Rate.parse("10/hour"), ZoneOffset.UTC), now);
        key.charge(10, now);

        long back = nanos("2026-03-01T10:15:00Z");

        assertThat(key.retryAfter(1, back)).isEqualTo(Duration.ofMinutes(45).toNanos());
    }

    @Test
    void onClock_setBackAcrossTheBoundary_lastsOnePeriod() {
        long now = nanos("2026-03-01T10:00:05Z");
        LimitAlgorithm limit = FixedWindow.onClock(Rate.parse("10/hour"), ZoneOffset.UTC);
        Key key = new Key(limit, now);
        key.charge(9, now);

        long back = nanos("2026-03-01T09:59:50Z");
        assertThat(key.charge(1, back)).isTrue();
        assertThat(key.charge(1, back)).isFalse();

        assertThat(key.fullAfter(back)).isEqualTo(Duration.ofHours(1).toNanos());
        assertThat(key.retryAfter(1, nanos("2026-03-01T10:59:49Z")))
                .isEqualTo(Duration.ofSeconds(1).toNanos());
        assertThat(key.charge(10, nanos("2026-03-01T10:59:50Z"))).isTrue();
    }

    private static long nanos(String instant) {
        Instant parsed = Instant.parse(instant);
        return Math.addExact(Math.multiplyExact(parsed.getEpochSecond(), 1_000_000_000L), parsed.getNano());
    }
}
