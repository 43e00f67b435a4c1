package dev.ratelimit.memory.storm;

import dev.ratelimit.LimitAlgorithm;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A state, and the limit that wrote it and when. */
@SuppressWarnings("ArrayRecordComponent") // compared below
record Kept(LimitAlgorithm limit, long[] state, long at) {

    Kept copy() {
        return new Kept(limit, state.clone(), at);
    }

    /** Returns whether its time is ahead, which it then corrects, as after a step back of the wall clock. */
    boolean look(Moment moment) {
        long[] before = state.clone();
        limit.admits(state, 0, 0, moment.on(limit));
        return !Arrays.equals(before, state);
    }

    boolean full(Moment moment) {
        return limit.fullAfterNanos(state, 0, moment.on(limit)) == 0;
    }

    long remaining(Moment moment) {
        return limit.remaining(state, 0, moment.on(limit));
    }

    boolean same(@Nullable Kept other) {
        return other != null && at == other.at && limit.equals(other.limit) && Arrays.equals(state, other.state);
    }
}
