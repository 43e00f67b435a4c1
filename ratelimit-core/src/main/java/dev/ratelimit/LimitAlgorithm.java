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

    /** The functions of a limit. For the limits of a policy, use {@link Policy#algorithms()}. */
    static LimitAlgorithm of(Limit limit) {
        return (LimitAlgorithm) limit;
    }

    /** Whether times are nanoseconds of wall time since the epoch, instead of monotonic ones. */
    default boolean wallClock() {
        return false;
    }

    /**
     * The same limit with a share of its permits, rounded down, but at least 1. One of several instances applies it
     * while they cannot share their state.
     *
     * @param share above 0, at most 1
     * @throws UnsupportedOperationException unless overridden; only a store that falls back to memory calls this method
     */
    default LimitAlgorithm scaled(double share) {
        throw new UnsupportedOperationException(getClass().getName() + " does not implement scaled");
    }

    /** The number of longs in the state of a new key, at least 1. */
    int stateSize();

    /** Whether a state may grow with use, by {@link #grow}. A store then gives each state a separate array. */
    default boolean grows() {
        return false;
    }

    /** Writes the state of a new key. */
    void clear(long[] state, int at, long now);

    /**
     * Whether {@code permits} (0 or more) would be admitted.
     *
     * <p>On {@linkplain #wallClock() wall time} this method may write: if the clock was set back, so that the state is
     * in the future, it moves the state to the period that begins now. Results for the same time do not depend on that.
     * A store guards the state as for a charge, and keeps the written state whatever the result, even after a refusal
     * or a peek, and before the state is converted to another limit. Otherwise each question would restart the wait.
     */
    @CanIgnoreReturnValue
    boolean admits(long[] state, int at, long permits, long now);

    /** Takes {@code permits}, 1 or more, that {@link #admits} has just admitted. */
    void charge(long[] state, int at, long permits, long now);

    /**
     * Refunds {@code permits} that were charged {@code ageNanos} ago, as far as they are still charged; never raises
     * the key above full.
     */
    void refund(long[] state, int at, long permits, long ageNanos, long now);

    /** The number of permits that would be admitted now, from 0 to {@link #capacity()}. */
    long remaining(long[] state, int at, long now);

    /**
     * The minimum wait in nanoseconds until {@code permits} would be admitted without other callers; 0 if they would be
     * admitted now, {@link #NEVER} if they exceed the {@link #capacity()}.
     */
    long retryAfterNanos(long[] state, int at, long permits, long now);

    /** The time in nanoseconds until the key is full again; 0 if it is full. */
    long fullAfterNanos(long[] state, int at, long now);

    /**
     * {@link #admits} and {@link #charge} in one step on a state of one long. Called only if {@link #stateSize()} is 1.
     *
     * @return the state after the charge, or {@link #REFUSED}
     */
    default long tryCharge(long state, long permits, long now) {
        throw new UnsupportedOperationException("the state has " + stateSize() + " longs");
    }

    /**
     * Makes room for a charge if the state {@link #grows}. Such a state has a separate array, and reaches to its end.
     *
     * @return the same array, or a larger or smaller one with everything that still counts, and with the same longs
     *     before {@code at}
     */
    default long[] grow(long[] state, int at, long permits, long now) {
        return state;
    }

    /**
     * Converts the state of a former limit of the same kind directly: in proportion to the capacity, rounded up if the
     * capacity shrinks and down if it grows, so that the state does not change while two limits take turns.
     *
     * @param formerState the state of the former limit, from index 0
     * @return false, with nothing written, if this limit cannot use that state; then charge a {@link #share} instead
     */
    default boolean adopt(long[] state, int at, LimitAlgorithm former, long[] formerState, long now) {
        return false;
    }

    /** The same share of this limit's capacity as {@code used} is of {@code whole}, rounded up to whole permits. */
    default long share(long used, long whole) {
        BigInteger[] share = BigInteger.valueOf(used)
                .multiply(BigInteger.valueOf(capacity()))
                .divideAndRemainder(BigInteger.valueOf(whole));
        return share[0].longValueExact() + share[1].signum();
    }
}
