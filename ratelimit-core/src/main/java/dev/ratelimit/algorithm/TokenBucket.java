package dev.ratelimit.algorithm;

import static dev.ratelimit.algorithm.WideMath.ceilDiv;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import java.math.BigInteger;

/**
 * A bucket of tokens, full at the start and refilled continuously at the rate. Equal to GCRA, the generic cell rate
 * algorithm (ITU-T I.371, virtual scheduling): the state is the theoretical arrival time, the time at which the bucket
 * is full again.
 *
 * <p>Time is counted in ticks of {@code 1/s} ns, so chosen that a permit takes a whole number {@code c} of them: with
 * {@code P/R = c/s} in lowest terms, nothing is rounded. What is missing from the bucket, the <em>debt</em>, lies
 * between 0 and {@code capacity * c}. Where {@code s} is small, the state is one long, {@code now * s + debt}, in
 * arithmetic modulo 2^64; else it is two, the time of the last charge and the debt then.
 *
 * <p>In any interval of length t at most {@code capacity + floor(R * t / P)} permits are admitted. Immutable.
 */
public final class TokenBucket implements Limit {

    /** How tokens come back. */
    public enum Refill {
        /** Each at its own time, evenly spread. */
        CONTINUOUS,
        /** All of a period's at once, at whole periods after the charge that found the bucket full. */
        INTERVAL
    }

    /** A state of one long is unambiguous for 2^63 ticks of idleness: 4.5 years at 64 ticks a nanosecond. */
    private static final long MOST_TICKS_IN_ONE_LONG = 64;

    private static final long MOST_DEBT = 1L << 61;
    private static final BigInteger RATE_ERROR_OF = BigInteger.valueOf(1_000_000_000);

    private final Rate rate;
    private final long capacity;
    private final long ticksPerNano;
    private final long ticksPerPermit;
    private final long fullDebt;
    private final boolean oneLong;

    private TokenBucket(Rate rate, long capacity) {
        this.rate = rate;
        this.capacity = capacity;
        long common = gcd(rate.permits(), rate.periodNanos());
        long exactPermit = rate.periodNanos() / common;
        if (exactPermit <= MOST_DEBT / capacity) {
            this.ticksPerNano = rate.permits() / common;
            this.ticksPerPermit = exactPermit;
        } else {
            this.ticksPerNano = coarseTicksPerNano(rate, capacity);
            this.ticksPerPermit = coarseTicksPerPermit(rate, ticksPerNano, capacity);
        }
        this.fullDebt = capacity * ticksPerPermit;
        this.oneLong = ticksPerNano <= MOST_TICKS_IN_ONE_LONG;
    }

    /** A bucket that holds one period's permits. */
    public static Limit of(Rate rate) {
        return of(rate, rate.permits(), Refill.CONTINUOUS);
    }

    /** A bucket that holds {@code burst} permits. */
    public static Limit of(Rate rate, long burst) {
        return of(rate, burst, Refill.CONTINUOUS);
    }

    /**
     * A bucket that holds {@code burst} permits and is refilled so.
     *
     * @param burst at least 1
     * @throws IllegalArgumentException when the rate is per month, or burst and rate cannot be represented: an empty
     *     bucket must be full again within 73 years, and the rate must be exact to one in 10^9
     */
    public static Limit of(Rate rate, long burst, Refill refill) {
        if (burst < 1) {
            throw new IllegalArgumentException("burst must be at least 1 but was " + burst);
        }
        if (rate.perMonth()) {
            throw new IllegalArgumentException(
                    "a token bucket has no calendar; for " + rate + " use algorithm fixed-window with align: clock");
        }
        return refill == Refill.CONTINUOUS ? new TokenBucket(rate, burst) : new IntervalTokenBucket(rate, burst);
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
        return ceilDiv(fullDebt, ticksPerNano);
    }

    @Override
    public int stateSize() {
        return oneLong ? 1 : 2;
    }

    @Override
    public void clear(long[] state, int at, long now) {
        write(state, at, 0, now);
    }

    @Override
    public boolean admits(long[] state, int at, long permits, long now) {
        return permits <= capacity && debt(state, at, now) <= fullDebt - permits * ticksPerPermit;
    }

    @Override
    public void charge(long[] state, int at, long permits, long now) {
        write(state, at, debt(state, at, now) + permits * ticksPerPermit, now);
    }

    @Override
    public void refund(long[] state, int at, long permits, long ageNanos, long now) {
        long given = Math.min(permits, capacity) * ticksPerPermit;
        write(state, at, Math.max(0, debt(state, at, now) - given), now);
    }

    @Override
    public long remaining(long[] state, int at, long now) {
        return Math.max(0, fullDebt - debt(state, at, now)) / ticksPerPermit;
    }

    @Override
    public long retryAfterNanos(long[] state, int at, long permits, long now) {
        if (permits > capacity) {
            return NEVER;
        }
        long excess = debt(state, at, now) - (fullDebt - permits * ticksPerPermit);
        return excess <= 0 ? 0 : ceilDiv(excess, ticksPerNano);
    }

    @Override
    public long fullAfterNanos(long[] state, int at, long now) {
        return ceilDiv(debt(state, at, now), ticksPerNano);
    }

    @Override
    public long tryCharge(long state, long permits, long now) {
        if (permits > capacity) {
            return REFUSED;
        }
        long charge = permits * ticksPerPermit;
        long nowTicks = now * ticksPerNano;
        long debt = Math.max(0, state - nowTicks);
        return debt <= fullDebt - charge ? nowTicks + debt + charge : REFUSED;
    }

    @Override
    public boolean adopt(long[] state, int at, Limit former, long[] formerState, long now) {
        if (!(former instanceof TokenBucket bucket)) {
            return false;
        }
        long debt = Math.min(bucket.debt(formerState, 0, now), bucket.fullDebt);
        write(state, at, WideMath.mulDivCeil(debt, fullDebt, bucket.fullDebt), now);
        return true;
    }

    /** What is missing from the bucket now, in ticks; more than a full bucket's where the clock was set back. */
    private long debt(long[] state, int at, long now) {
        if (oneLong) {
            return Math.max(0, state[at] - now * ticksPerNano);
        }
        long debt = state[at + 1];
        long elapsed = now - state[at];
        if (elapsed < 0) {
            long back = Math.min(-elapsed, MOST_DEBT / ticksPerNano);
            return debt + back * ticksPerNano;
        }
        return elapsed >= ceilDiv(debt, ticksPerNano) ? 0 : debt - elapsed * ticksPerNano;
    }

    private void write(long[] state, int at, long debt, long now) {
        if (oneLong) {
            state[at] = now * ticksPerNano + debt;
        } else {
            state[at] = now;
            state[at + 1] = debt;
        }
    }

    /** The finest ticks with which a full bucket still fits, for a rate whose exact ticks are too many. */
    private static long coarseTicksPerNano(Rate rate, long capacity) {
        BigInteger ticks = BigInteger.valueOf(MOST_DEBT / capacity)
                .multiply(BigInteger.valueOf(rate.permits()))
                .divide(BigInteger.valueOf(rate.periodNanos()));
        if (ticks.signum() == 0) {
            throw unrepresentable(rate, capacity);
        }
        return ticks.min(BigInteger.valueOf(MOST_DEBT)).longValueExact();
    }

    /** The ticks a permit takes, rounded up, so that the limit is never exceeded. */
    private static long coarseTicksPerPermit(Rate rate, long ticksPerNano, long capacity) {
        BigInteger permits = BigInteger.valueOf(rate.permits());
        BigInteger exact = BigInteger.valueOf(rate.periodNanos()).multiply(BigInteger.valueOf(ticksPerNano));
        BigInteger rounded = exact.add(permits).subtract(BigInteger.ONE).divide(permits);
        BigInteger error = rounded.multiply(permits).subtract(exact);
        if (error.multiply(RATE_ERROR_OF).compareTo(exact) >= 0) {
            throw unrepresentable(rate, capacity);
        }
        return rounded.longValueExact();
    }

    private static IllegalArgumentException unrepresentable(Rate rate, long capacity) {
        return new IllegalArgumentException(
                "a token bucket of " + rate + " with burst " + capacity
                        + " cannot be represented: an empty bucket must be full again within 73 years, and its rate exact to one in 10^9");
    }

    private static long gcd(long a, long b) {
        return b == 0 ? a : gcd(b, a % b);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TokenBucket bucket && rate.equals(bucket.rate) && capacity == bucket.capacity;
    }

    @Override
    public int hashCode() {
        return 31 * rate.hashCode() + Long.hashCode(capacity);
    }

    @Override
    public String toString() {
        return rate + " (token-bucket" + (capacity == rate.permits() ? ")" : ", burst " + capacity + ")");
    }
}
