package dev.ratelimit.test;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import java.time.Duration;

/** One permit at a time, and then none for an interval: the state is when the next one is admitted. */
record PeakRate(long intervalNanos) implements LimitAlgorithm {

    @Override
    public long capacity() {
        return 1;
    }

    @Override
    public long replenishNanos() {
        return intervalNanos;
    }

    @Override
    public Rate rate() {
        return Rate.of(1, Duration.ofNanos(intervalNanos));
    }

    @Override
    public int stateSize() {
        return 1;
    }

    @Override
    public void clear(long[] state, int at, long now) {
        state[at] = now;
    }

    @Override
    public boolean admits(long[] state, int at, long permits, long now) {
        return permits == 0 || (permits == 1 && now - state[at] >= 0);
    }

    @Override
    public void charge(long[] state, int at, long permits, long now) {
        state[at] = now + intervalNanos;
    }

    @Override
    public void refund(long[] state, int at, long permits, long ageNanos, long now) {
        if (permits > 0) {
            clear(state, at, now);
        }
    }

    @Override
    public long remaining(long[] state, int at, long now) {
        return now - state[at] >= 0 ? 1 : 0;
    }

    @Override
    public long retryAfterNanos(long[] state, int at, long permits, long now) {
        return permits > 1 ? NEVER : permits == 0 ? 0 : Math.max(0, state[at] - now);
    }

    @Override
    public long fullAfterNanos(long[] state, int at, long now) {
        return Math.max(0, state[at] - now);
    }
}
