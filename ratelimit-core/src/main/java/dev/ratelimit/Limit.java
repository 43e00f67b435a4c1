package dev.ratelimit;

import java.math.BigInteger;

/**
 * One limit: an algorithm with its parameters, as pure functions on a few {@code long}s of state.
 *
 * <p>A limit holds no state, takes no lock and reads no clock. A store keeps each key's {@link #stateSize()} longs,
 * starting at index {@code at} of an array, guards them, and passes the time: nanoseconds on any one timeline that the
 * store keeps to, compared by difference only, so that it may start anywhere and overflow. For a limit on
 * {@linkplain #wallClock() wall time} it is nanoseconds since the epoch.
 *
 * <p>Three rules hold for each limit, and {@code RateLimitStoreContract} in {@code ratelimit-test} checks them:
 * <ul>
 *   <li>only {@link #clear}, {@link #charge}, {@link #refund} and {@link #adopt} write;
 *   <li>a time before one that was already used credits nothing;
 *   <li>a state whose {@link #fullAfterNanos} is 0 equals a cleared one, so a store may forget it.
 * </ul>
 *
 * <p>Implementations are immutable, and equal when their parameters are.
 */
public interface Limit {

    /** As a wait in nanoseconds: no wait is long enough. */
    long NEVER = Long.MAX_VALUE;

    /** What {@link #tryCharge} returns instead of a state when it refuses. */
    long REFUSED = Long.MIN_VALUE;

    /** The configured rate. */
    Rate rate();

    /** The most permits that can be had at once, at least 1. */
    long capacity();

    /** The time in which {@link #capacity()} permits come back, in nanoseconds. */
    long replenishNanos();

    /** Whether times are nanoseconds of wall time since the epoch, instead of monotonic ones. */
    default boolean wallClock() {
        return false;
    }

    /** How many longs a new key's state has, at least 1. */
    int stateSize();

    /** Whether a state gets longer with use, by {@link #grow}. A store then gives each an array of its own. */
    default boolean grows() {
        return false;
    }

    /** Writes the state of a key never seen. */
    void clear(long[] state, int at, long now);

    /** Whether {@code permits} (0 or more) would be admitted. */
    boolean admits(long[] state, int at, long permits, long now);

    /** Takes {@code permits}, 1 or more, that {@link #admits} has just admitted. */
    void charge(long[] state, int at, long permits, long now);

    /**
     * Gives back {@code permits} charged {@code ageNanos} ago, as far as they are still charged; never lifts the key
     * above full.
     */
    void refund(long[] state, int at, long permits, long ageNanos, long now);

    /** The most permits that would be admitted now, from 0 to {@link #capacity()}. */
    long remaining(long[] state, int at, long now);

    /**
     * The least nanoseconds until {@code permits} would be admitted if nobody else came; 0 when they are admitted now,
     * {@link #NEVER} when they exceed the {@link #capacity()}.
     */
    long retryAfterNanos(long[] state, int at, long permits, long now);

    /** The least nanoseconds until nothing is charged any more. */
    long fullAfterNanos(long[] state, int at, long now);

    /** The least nanoseconds until {@link #remaining} grows; 0 when it cannot. */
    default long nextAvailableNanos(long[] state, int at, long now) {
        long remaining = remaining(state, at, now);
        return remaining >= capacity() ? 0 : retryAfterNanos(state, at, remaining + 1, now);
    }

    /**
     * {@link #admits} and {@link #charge} in one step on a state of one long, for a store that swaps it by
     * compare-and-set. Called only where {@link #stateSize()} is 1.
     *
     * @return the state after the charge, or {@link #REFUSED}
     */
    default long tryCharge(long state, long permits, long now) {
        throw new UnsupportedOperationException("the state has " + stateSize() + " longs");
    }

    /**
     * Makes room for a charge, for a limit whose state {@link #grows}. Such a state has an array of its own ({@code at} is 0).
     *
     * @return the same array, or a larger one with the same content
     */
    default long[] grow(long[] state, long permits, long now) {
        return state;
    }

    /**
     * Takes over, as it is, the state of a limit of the same kind that this one replaces; in proportion to the capacity,
     * rounded up.
     *
     * @param formerState the former limit's state, from index 0
     * @return false, with nothing written, when that state means nothing to this limit; charge a {@link #share} then
     */
    default boolean adopt(long[] state, int at, Limit former, long[] formerState, long now) {
        return false;
    }

    /** As much of this limit's capacity as {@code used} is of {@code whole}, rounded up to whole permits. */
    default long share(long used, long whole) {
        BigInteger[] share = BigInteger.valueOf(used)
                .multiply(BigInteger.valueOf(capacity()))
                .divideAndRemainder(BigInteger.valueOf(whole));
        return share[0].longValueExact() + share[1].signum();
    }
}
