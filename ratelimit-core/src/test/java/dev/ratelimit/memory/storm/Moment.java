package dev.ratelimit.memory.storm;

import dev.ratelimit.LimitAlgorithm;

/** One reading of both clocks. */
record Moment(long nanos, long epochNanos) {

    long on(LimitAlgorithm limit) {
        return limit.wallClock() ? epochNanos : nanos;
    }
}
