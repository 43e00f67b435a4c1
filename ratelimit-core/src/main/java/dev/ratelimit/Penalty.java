package dev.ratelimit;

import java.time.Duration;

/**
 * The limit with the longest period of a policy {@linkplain Policy#withPenalty with a penalty}: it also refuses for that
 * long after the policy has refused a key. For authors of stores, who call {@link #refuse} if any limit of the policy refuses a
 * charge.
 *
 * <p>The state is the end of the penalty, then the state of the limit inside. A penalty runs once per exhaustion: once
 * over, it starts again only after something was charged, or this limit was full. So the wait that was returned at the
 * first refusal stays true, however often the key is refused meanwhile, unless this limit is full while another one of
 * the policy still refuses. Immutable.
 */
public final class Penalty implements LimitAlgorithm {

    private static final Duration MAX = Duration.ofDays(365);

    /**
     * The penalty of a key that has none ended so long ago, 146 years. A real one may have ended up to 137 years ago,
     * while a very slow limit is not full again.
     */
    private static final long LONG_AGO = 1L << 62;

    private static final long NINE_YEARS = 1L << 58;

    private final LimitAlgorithm limit;
    private final long nanos;

    Penalty(LimitAlgorithm limit, Duration duration) {
        if (duration.isNegative() || duration.isZero() || duration.compareTo(MAX) > 0) {
            throw new IllegalArgumentException("penalty must be above 0 and at most 365 days but was " + duration);
        }
        if (limit.concurrency()) {
            throw new IllegalArgumentException("a concurrency limit cannot have a penalty: " + limit);
        }
        this.limit = limit;
        this.nanos = duration.toNanos();
    }

    /** {@return the limit that counts} */
    public LimitAlgorithm limit() {
        return limit;
    }

    /** {@return how long a refused key stays refused} */
    public Duration duration() {
        return Duration.ofNanos(nanos);
    }

    /** The limit that counts, if this one has a penalty; otherwise the same. */
    static LimitAlgorithm without(LimitAlgorithm limit) {
        return limit instanceof Penalty penalty ? penalty.limit : limit;
    }

    /**
     * {@return whether a refusal now would start a penalty, so that {@link #refuse} would write}
     *
     * @param state the array that contains the key's state
     * @param at the index of the state's first long
     * @param now the time in nanoseconds, on the limit's timeline
     */
    public boolean starts(long[] state, int at, long now) {
        boolean none = state[at] - now < NINE_YEARS - LONG_AGO;
        return none || (leftNanos(state, at, now) == 0 && limit.fullAfterNanos(state, at + 1, now) == 0);
    }

    /**
     * Starts the penalty, unless it has started already. A store calls this after any limit of the policy, or this
     * penalty, has refused a charge of at least one permit to this key; not after a peek, nor after a refusal by
     * another policy only.
     *
     * @param state the array that contains the key's state
     * @param at the index of the state's first long
     * @param now the time in nanoseconds, on the limit's timeline
     */
    public void refuse(long[] state, int at, long now) {
        if (starts(state, at, now)) {
            state[at] = now + nanos;
        }
    }

    /** The rest of the penalty; at most all of it, if the clock was set back. */
    private long leftNanos(long[] state, int at, long now) {
        return Math.max(0, Math.min(nanos, state[at] - now));
    }

    /**
     * The end of the penalty in the state of another limit, as this one writes it. A penalty that has started stays,
     * and if it is shorter now, it is shorter by that.
     */
    long carriedEnd(LimitAlgorithm former, long[] formerState, int at, long formerNow, long now) {
        return former instanceof Penalty penalty
                ? now + (formerState[at] - formerNow) - Math.max(0, penalty.nanos - nanos)
                : now - LONG_AGO;
    }

    @Override
    public Rate rate() {
        return limit.rate();
    }

    @Override
    public long capacity() {
        return limit.capacity();
    }

    @Override
    public long replenishNanos() {
        return limit.replenishNanos();
    }

    @Override
    public boolean wallClock() {
        return limit.wallClock();
    }

    @Override
    public Penalty scaled(double share) {
        return new Penalty(limit.scaled(share), duration());
    }

    @Override
    public int stateSize() {
        return 1 + limit.stateSize();
    }

    @Override
    public boolean grows() {
        return limit.grows();
    }

    @Override
    public void clear(long[] state, int at, long now) {
        state[at] = now - LONG_AGO;
        limit.clear(state, at + 1, now);
    }

    @Override
    public boolean admits(long[] state, int at, long permits, long now) {
        if (wallClock() && state[at] - now > nanos) {
            state[at] = now + nanos;
        }
        boolean admits = limit.admits(state, at + 1, permits, now);
        return admits && (permits == 0 || leftNanos(state, at, now) == 0);
    }

    @Override
    public void charge(long[] state, int at, long permits, long now) {
        state[at] = now - LONG_AGO;
        limit.charge(state, at + 1, permits, now);
    }

    @Override
    public void refund(long[] state, int at, long permits, long ageNanos, long now) {
        limit.refund(state, at + 1, permits, ageNanos, now);
    }

    @Override
    public boolean beginsAfter(long[] state, int at, long now) {
        return limit.beginsAfter(state, at + 1, now);
    }

    @Override
    public long remaining(long[] state, int at, long now) {
        return leftNanos(state, at, now) > 0 ? 0 : limit.remaining(state, at + 1, now);
    }

    @Override
    public long retryAfterNanos(long[] state, int at, long permits, long now) {
        long wait = limit.retryAfterNanos(state, at + 1, permits, now);
        return permits == 0 ? wait : Math.max(leftNanos(state, at, now), wait);
    }

    @Override
    public long fullAfterNanos(long[] state, int at, long now) {
        return Math.max(leftNanos(state, at, now), limit.fullAfterNanos(state, at + 1, now));
    }

    @Override
    public long[] grow(long[] state, int at, long permits, long now) {
        return limit.grow(state, at + 1, permits, now);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Penalty penalty && limit.equals(penalty.limit) && nanos == penalty.nanos;
    }

    @Override
    public int hashCode() {
        return 31 * limit.hashCode() + Long.hashCode(nanos);
    }

    @Override
    public String toString() {
        return limit + " with a penalty of " + Rate.notation(duration());
    }
}
