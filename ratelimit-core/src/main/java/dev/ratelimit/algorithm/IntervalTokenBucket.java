package dev.ratelimit.algorithm;

import static dev.ratelimit.algorithm.WideMath.ceilDiv;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;

/**
 * The token bucket that refills the tokens of one period at a time, at whole periods after the charge that found the
 * bucket full, as a timer would, but without a timer.
 *
 * <p>The state is the time of the last refill so far, and the missing tokens after it. In any interval of length t, at
 * most {@code capacity + R * (floor(t / P) + 1)} permits are admitted. Created by
 * {@link TokenBucket#of(Rate, long, TokenBucket.Refill)}. Immutable.
 */
public final class IntervalTokenBucket implements LimitAlgorithm {

    private static final long MAX_NANOS_TO_FULL = 1L << 62;

    private final Rate rate;
    private final long capacity;
    private final long refill;
    private final long periodNanos;

    IntervalTokenBucket(Rate rate, long capacity) {
        TokenBucket.check(rate, capacity);
        this.rate = rate;
        this.capacity = capacity;
        this.refill = rate.permits();
        this.periodNanos = rate.periodNanos();
        if (ceilDiv(capacity, refill) > MAX_NANOS_TO_FULL / periodNanos) {
            throw new IllegalArgumentException("a token bucket of " + rate + " with burst " + capacity
                    + " cannot be represented: an empty bucket must be full again within 146 years");
        }
    }

    @Override
    public Rate rate() {
        return rate;
    }

    @Override
    public long capacity() {
        return capacity;
    }

    @Override
    public long replenishNanos() {
        return ceilDiv(capacity, refill) * periodNanos;
    }

    @Override
    public IntervalTokenBucket scaled(double share) {
        Share part = new Share(share);
        return new IntervalTokenBucket(part.ofRefill(rate, capacity), part.of(capacity));
    }

    @Override
    public int stateSize() {
        return 2;
    }

    @Override
    public void clear(long[] state, int at, long now) {
        state[at] = now;
        state[at + 1] = 0;
    }

    @Override
    public boolean admits(long[] state, int at, long permits, long now) {
        return permits <= remaining(state, at, now);
    }

    @Override
    public void charge(long[] state, int at, long permits, long now) {
        settle(state, at, now);
        state[at + 1] += permits;
    }

    @Override
    public void refund(long[] state, int at, long permits, long ageNanos, long now) {
        settle(state, at, now);
        state[at + 1] = Math.max(0, state[at + 1] - permits);
    }

    @Override
    public long remaining(long[] state, int at, long now) {
        return capacity - missing(state, at, now);
    }

    @Override
    public long retryAfterNanos(long[] state, int at, long permits, long now) {
        if (permits > capacity) {
            return NEVER;
        }
        return untilMissingAtMost(capacity - permits, state, at, now);
    }

    @Override
    public long fullAfterNanos(long[] state, int at, long now) {
        return untilMissingAtMost(0, state, at, now);
    }

    @Override
    public boolean adopt(long[] state, int at, LimitAlgorithm former, long[] formerState, long now) {
        if (!(former instanceof IntervalTokenBucket other)) {
            return false;
        }
        long missing = other.missing(formerState, 0, now);
        long untilRefill = other.periodNanos - Math.max(0, now - formerState[0]) % other.periodNanos;
        // the next refill comes when it would have
        state[at] = now - Math.max(0, periodNanos - untilRefill);
        state[at + 1] = WideMath.share(missing, capacity, other.capacity);
        return true;
    }

    /** Refills are at fixed times after the first charge; the minimum number of sufficient refills decides. */
    private long untilMissingAtMost(long tolerated, long[] state, int at, long now) {
        if (missing(state, at, now) <= tolerated) {
            return 0;
        }
        return ceilDiv(state[at + 1] - tolerated, refill) * periodNanos - (now - state[at]);
    }

    private long missing(long[] state, int at, long now) {
        long refills = refills(state, at, now);
        long missing = state[at + 1];
        return refills >= ceilDiv(missing, refill) ? 0 : missing - refills * refill;
    }

    private long refills(long[] state, int at, long now) {
        return Math.max(0, now - state[at]) / periodNanos;
    }

    private void settle(long[] state, int at, long now) {
        long missing = missing(state, at, now);
        state[at] = missing == 0 ? later(now, state[at]) : state[at] + refills(state, at, now) * periodNanos;
        state[at + 1] = missing;
    }

    private static long later(long now, long other) {
        return now - other > 0 ? now : other;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof IntervalTokenBucket bucket && rate.equals(bucket.rate) && capacity == bucket.capacity;
    }

    @Override
    public int hashCode() {
        return 31 * rate.hashCode() + Long.hashCode(capacity);
    }

    @Override
    public String toString() {
        return rate + " (token-bucket, refill interval" + (capacity == refill ? ")" : ", burst " + capacity + ")");
    }
}
