package dev.ratelimit.memory;

import dev.ratelimit.LimitAlgorithm;

/**
 * One reading of both timelines for everything that happens at one moment, so that compared times were read together.
 * Reused for the next moment to avoid allocation. Not thread-safe.
 */
final class Moment {

    private final StoreClock clock;
    private long nanos;
    private long epochNanos;

    Moment(StoreClock clock) {
        this.clock = clock;
    }

    /** Sets it to now; reads the wall clock only if a limit needs it. */
    void read(boolean wallClock) {
        nanos = clock.nanos();
        epochNanos = wallClock ? clock.epochNanos() : 0;
    }

    /** The monotonic time. */
    long nanos() {
        return nanos;
    }

    /** The wall time. */
    long epochNanos() {
        return epochNanos;
    }

    /** The time on the limit's timeline. */
    long on(LimitAlgorithm limit) {
        return limit.wallClock() ? epochNanos : nanos;
    }
}
