package dev.ratelimit.memory;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Ticker;

/** The store's two timelines: monotonic nanoseconds since the store was created, and wall time. */
final class StoreClock {

    private final Ticker ticker;
    private final long origin;

    StoreClock(Ticker ticker) {
        this.ticker = ticker;
        this.origin = ticker.nanos();
    }

    long nanos() {
        return ticker.nanos() - origin;
    }

    long now(LimitAlgorithm limit) {
        return limit.wallClock() ? epochNanos() : nanos();
    }

    long epochNanos() {
        return ticker.epochNanos();
    }

    /**
     * If the wall clock was set back, moves a guarded state to the period that begins now, at the first look after the
     * step.
     */
    static void rememberStep(LimitAlgorithm limit, long[] state, int at, long now) {
        if (limit.wallClock()) {
            limit.admits(state, at, 0, now);
        }
    }
}
