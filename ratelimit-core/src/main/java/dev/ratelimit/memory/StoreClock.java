package dev.ratelimit.memory;

import dev.ratelimit.Limit;
import dev.ratelimit.Ticker;

/** The store's two timelines: monotonic nanoseconds since the store was made, and wall time. */
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

    long now(Limit limit) {
        return limit.wallClock() ? ticker.epochNanos() : nanos();
    }
}
