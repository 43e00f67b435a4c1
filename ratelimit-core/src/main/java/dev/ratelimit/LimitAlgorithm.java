package dev.ratelimit;

import java.math.BigInteger;

/**
 * How a limit counts: pure functions on a few {@code long}s of state. For authors of stores and of algorithms.
 *
 * <p>An algorithm holds no state, takes no lock and reads no clock. A store keeps each key's {@link #stateSize()}
 * longs, starting at index {@code at} of an array, guards them, and passes the time in nanoseconds. Times are only
 * compared by difference, so the store's timeline may start anywhere and overflow. For a limit on
 * {@linkplain #wallClock() wall time} they are nanoseconds since the epoch.
 *
 * <p>Three rules apply to each algorithm. {@code RateLimitStoreContract} in {@code ratelimit-test} checks them for
 * those here, and for a custom algorithm if a subclass adds it to {@code limits(Rate)}:
 * <ul>
 *   <li>only {@link #clear}, {@link #charge}, {@link #refund} and {@link #adopt} write, and on wall time
 *       {@link #admits};
 *   <li>a time before one that was already used does not credit any permits;
 *   <li>a state whose {@link #fullAfterNanos} is 0 equals a cleared one, so a store may forget it.
 * </ul>
 *
 * <p>Implementations are immutable, and equal if their parameters are.
 */
public non-sealed interface LimitAlgorithm extends Limit {

    /** A wait in nanoseconds: no wait is long enough. */
    long NEVER = Long.MAX_VALUE;

    /** The result of {@link #tryCharge} if it refuses. */
    long REFUSED = Long.MIN_VALUE;

    /**
     * {@return the functions of a limit} For the limits of a policy, use {@link Policy#algorithms()}.
     *
     * @param limit any limit: each is an algorithm
     */
    static LimitAlgorithm of(Limit limit) {
        return (LimitAlgorithm) limit;
    }

    /** {@return whether times are nanoseconds of wall time since the epoch, instead of monotonic ones} */
    default boolean wallClock() {
        return false;
    }

    /**
     * {@return the same limit with a share of its permits, rounded down, but at least 1} One of several instances
     * applies it while they cannot share their state.
     *
     * @param share above 0, at most 1
     * @throws IllegalArgumentException if {@code share} is out of range
     * @throws UnsupportedOperationException unless overridden; only a store that falls back to memory calls this method
     */
    default LimitAlgorithm scaled(double share) {
        throw new UnsupportedOperationException(getClass().getName() + " does not implement scaled");
    }

    /** {@return the number of longs in the state of a new key, at least 1} */
    int stateSize();

    /** {@return whether a state may grow with use, by {@link #grow}} A store then gives each state a separate array. */
    default boolean grows() {
        return false;
    }

    /**
     * Writes the state of a new key.
     *
     * @param state the array to write to
     * @param at the index of the first long to write
     * @param now the time in nanoseconds
     */
    void clear(long[] state, int at, long now);

    /**
     * {@return whether {@code permits} would be admitted}
     *
     * <p>On {@linkplain #wallClock() wall time} this method may write: if the clock was set back, so that the state is
     * in the future, it moves the state to the period that begins now. Results for the same time do not depend on that.
     * A store guards the state as for a charge, and keeps the written state whatever the result, even after a refusal
     * or a peek. Otherwise each question would restart the wait. {@link LimitState} does the same before it refunds or
     * converts.
     *
     * @param state the array that contains the key's state
     * @param at the index of the state's first long
     * @param permits how many, 0 or more
     * @param now the time in nanoseconds
     */
    @CanIgnoreReturnValue
    boolean admits(long[] state, int at, long permits, long now);

    /**
     * Takes permits that {@link #admits} has just admitted.
     *
     * @param state the array that contains the key's state
     * @param at the index of the state's first long
     * @param permits how many, 1 or more
     * @param now the time in nanoseconds
     */
    void charge(long[] state, int at, long permits, long now);

    /**
     * Refunds permits as far as they are still charged; never raises the key above full.
     *
     * @param state the array that contains the key's state
     * @param at the index of the state's first long
     * @param permits how many, 0 or more
     * @param ageNanos how long ago they were charged, in nanoseconds
     * @param now the time in nanoseconds
     */
    void refund(long[] state, int at, long permits, long ageNanos, long now);

    /**
     * {@return the number of permits that would be admitted now, from 0 to {@link #capacity()}}
     *
     * @param state the array that contains the key's state
     * @param at the index of the state's first long
     * @param now the time in nanoseconds
     */
    long remaining(long[] state, int at, long now);

    /**
     * {@return the minimum wait in nanoseconds until {@code permits} would be admitted without other callers} 0 if they
     * would be admitted now, {@link #NEVER} if they exceed the {@link #capacity()}.
     *
     * @param state the array that contains the key's state
     * @param at the index of the state's first long
     * @param permits how many, 0 or more
     * @param now the time in nanoseconds
     */
    long retryAfterNanos(long[] state, int at, long permits, long now);

    /**
     * {@return the time in nanoseconds until the key is full again; 0 if it is full}
     *
     * @param state the array that contains the key's state
     * @param at the index of the state's first long
     * @param now the time in nanoseconds
     */
    long fullAfterNanos(long[] state, int at, long now);

    /**
     * {@link #admits} and {@link #charge} in one step on a state of one long. Called only if {@link #stateSize()} is 1.
     * Overridden to create no garbage.
     *
     * @param state the only long of the key's state
     * @param permits how many, 1 or more
     * @param now the time in nanoseconds
     * @return the state after the charge, or {@link #REFUSED}
     */
    default long tryCharge(long state, long permits, long now) {
        long[] alone = {state};
        if (!admits(alone, 0, permits, now)) {
            return REFUSED;
        }
        charge(alone, 0, permits, now);
        return alone[0];
    }

    /**
     * Makes room for a charge if the state {@link #grows}. Such a state has a separate array, and reaches to its end.
     *
     * @param state the array that contains the key's state
     * @param at the index of the state's first long
     * @param permits how many are about to be charged
     * @param now the time in nanoseconds
     * @return the same array, or a larger or smaller one with everything that still counts, and with the same longs
     *     before {@code at}
     */
    default long[] grow(long[] state, int at, long permits, long now) {
        return state;
    }

    /**
     * {@return whether a state with charges begins after a time} It was then charged by somebody who had read the clock
     * later, or before the wall clock was set back: a charge with this time would be assigned to a window that does not
     * contain it, and its refund would not find it. Of no consequence for states that do not assign charges to windows, nor
     * for those that {@linkplain #grows grow}.
     *
     * @param state the array with the state
     * @param at the index of its first long
     * @param now the time in nanoseconds, on the timeline of this limit
     */
    default boolean beginsAfter(long[] state, int at, long now) {
        return false;
    }

    /**
     * Converts the state of a former limit of the same kind directly: in proportion to the capacity, rounded up if the
     * capacity shrinks and down if it grows, so that the state does not change while two limits take turns. For the same
     * reason permits come back when they would have under the former limit, not a period after the change; but within one
     * period of this limit.
     *
     * @param state the array to write to, cleared; if the state grows, at least as long as {@code formerState}, and with
     *     room for a charge of the used {@link #share}
     * @param at the index of the first long to write
     * @param former the limit that wrote {@code formerState}
     * @param formerState the state of the former limit, from index 0
     * @param now the time in nanoseconds, on the timeline of this limit
     * @return false, with nothing written, if this limit cannot use that state; then charge a {@link #share} instead
     */
    default boolean adopt(long[] state, int at, LimitAlgorithm former, long[] formerState, long now) {
        return false;
    }

    /**
     * {@return the same share of this limit's capacity as {@code used} is of {@code whole}, rounded up to whole
     * permits}
     *
     * @param used permits of another limit, from 0 to {@code whole}
     * @param whole the capacity of that limit
     */
    default long share(long used, long whole) {
        BigInteger[] share = BigInteger.valueOf(used)
                .multiply(BigInteger.valueOf(capacity()))
                .divideAndRemainder(BigInteger.valueOf(whole));
        return share[0].longValueExact() + share[1].signum();
    }
}
