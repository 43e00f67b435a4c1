package dev.ratelimit;

import java.util.Arrays;

/**
 * The state of one limit for one key, with the operations that are the same in every store: reporting its status,
 * refunding a charge, and converting it to another limit. For authors of stores, who keep and guard the {@code long}s,
 * and read the time before each call.
 *
 * <p>It is a view: it reads and writes the given array. Not thread-safe.
 */
public final class LimitState {

    private final LimitAlgorithm limit;
    private final long[] state;
    private final int at;

    /**
     * Creates a view of a state.
     *
     * @param limit the limit that wrote or cleared it
     * @param state the array that contains it
     * @param at the index of its first long
     */
    public LimitState(LimitAlgorithm limit, long[] state, int at) {
        this.limit = limit;
        this.state = state;
        this.at = at;
    }

    /**
     * {@return the status after a charge that was admitted and written}
     *
     * @param charge what was admitted
     * @param now the time in nanoseconds, on the limit's timeline
     */
    public LimitStatus admitted(Charge charge, long now) {
        return status(charge, 0, now);
    }

    /**
     * {@return the status for a charge that this limit or another one refuses}
     *
     * @param charge what is refused
     * @param permits the permits of the charge; even a charge of 0 is refused if more permits are in use than the
     *     capacity
     * @param now the time in nanoseconds, on the limit's timeline
     */
    public LimitStatus refused(Charge charge, long permits, long now) {
        return status(charge, limit.retryAfterNanos(state, at, permits, now), now);
    }

    private LimitStatus status(Charge charge, long retryAfterNanos, long now) {
        long remaining = limit.remaining(state, at, now);
        return new LimitStatus(
                charge,
                limit,
                remaining,
                retryAfterNanos,
                remaining >= limit.capacity() ? 0 : limit.retryAfterNanos(state, at, remaining + 1, now),
                limit.fullAfterNanos(state, at, now));
    }

    /**
     * Refunds permits to this limit, which may have replaced the charged one in the meantime: then in proportion,
     * except that one concurrency limit refunds what another one was charged.
     *
     * @param paid the limit that was charged
     * @param permits the permits charged to it, at most its capacity
     * @param ageNanos how long ago, in nanoseconds
     * @param now the time in nanoseconds, on this limit's timeline
     */
    public void refund(Limit paid, long permits, long ageNanos, long now) {
        rememberStep(now);
        if (limit.concurrency() && paid.concurrency()) {
            limit.refund(state, at, permits, ageNanos, now);
            return;
        }
        long kept = limit.share(paid.capacity() - permits, paid.capacity());
        limit.refund(state, at, limit.capacity() - kept, ageNanos, now);
    }

    /**
     * Converts this state to another limit: used permits stay used, in proportion to the capacity, rounded up if the
     * capacity shrinks and down if it grows, so that the state does not change while two limits take turns. Between
     * limits of one kind, they come back when they would have, or one period of the other limit from now if that is
     * sooner. A penalty stays, unless the other limit has none.
     *
     * @param other the limit that replaces this one
     * @param ownNow the time in nanoseconds, on this limit's timeline
     * @param otherNow the same time on the other limit's timeline
     * @return a state of the other limit, in a new array
     */
    public long[] carriedTo(LimitAlgorithm other, long ownNow, long otherNow) {
        rememberStep(ownNow);
        if (other instanceof Penalty penalty) {
            long[] inside = carriedTo(penalty.limit(), ownNow, otherNow);
            long[] carried = new long[1 + inside.length];
            carried[0] = penalty.carriedEnd(limit, state, at, ownNow, otherNow);
            System.arraycopy(inside, 0, carried, 1, inside.length);
            return carried;
        }
        if (limit instanceof Penalty penalty) {
            return new LimitState(penalty.limit(), state, at + 1).carriedTo(other, ownNow, otherNow);
        }
        long share = share(other, limit.remaining(state, at, ownNow));
        long[] carried = cleared(other, share, otherNow);
        if (!other.adopt(carried, 0, limit, own(), otherNow) && share > 0) {
            other.charge(carried, 0, share, otherNow);
        }
        return carried;
    }

    /** A new state with room for this one, and for a charge of these permits. */
    private long[] cleared(LimitAlgorithm other, long permits, long now) {
        int size = other.stateSize();
        // a state that grows has its own array, of any length
        long[] cleared = new long[other.grows() ? Math.max(size, state.length - at) : size];
        other.clear(cleared, 0, now);
        long[] grown = other.grow(cleared, 0, permits, now);
        return grown.length > cleared.length ? grown : cleared;
    }

    /** A refund or a conversion may be the first to see that the wall clock was set back. */
    private void rememberStep(long now) {
        if (limit.wallClock()) {
            limit.admits(state, at, 0, now);
        }
    }

    private long share(LimitAlgorithm other, long remaining) {
        long whole = limit.capacity();
        return other.capacity() > whole
                ? other.capacity() - other.share(remaining, whole)
                : other.share(whole - remaining, whole);
    }

    /** A copy of the state that starts at index 0. */
    private long[] own() {
        return at == 0 ? state : Arrays.copyOfRange(state, at, limit.grows() ? state.length : at + limit.stateSize());
    }
}
