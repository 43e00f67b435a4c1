package dev.ratelimit.algorithm;

import static dev.ratelimit.algorithm.WideMath.ceilDiv;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import java.math.BigInteger;

/**
 * A bucket of tokens, full at the start and refilled continuously at the rate. Equal to GCRA, the generic cell rate
 * algorithm (ITU-T I.371, virtual scheduling): the state is the theoretical arrival time, the time at which the bucket
 * is full again.
 *
 * <p>Time is counted in ticks of {@code 1/s} ns, so that a permit takes a whole number {@code c} of ticks: with
 * {@code P/R = c/s} in lowest terms, nothing is rounded. The missing part of the bucket, the <em>debt</em>, is between
 * 0 and {@code capacity * c}. If {@code s} is small, the state is one long, {@code now * s + debt}, in arithmetic
 * modulo 2^64; otherwise it is two longs, the time of the last charge and the debt at that time.
 *
 * <p>In any interval of length t at most {@code capacity + floor(R * t / P)} permits are admitted. Immutable.
 */
public final class TokenBucket implements LimitAlgorithm {

    /** How tokens come back. */
    public enum Refill {
        /** Evenly, one by one. */
        CONTINUOUS,
        /** All of one period at once, at whole periods after the charge that found the bucket full. */
        INTERVAL
    }

    /**
     * A state of one long is unambiguous for 2^63 ticks: 4.5 years at 64 ticks per nanosecond. A key that is idle for
     * longer, or whose clock is set back by more, may have any number of tokens. Stores therefore remove idle keys.
     */
    private static final long MAX_TICKS_IN_ONE_LONG = 64;

    private static final long MAX_DEBT = 1L << 61;
    private static final BigInteger RATE_ERROR_OF = BigInteger.valueOf(1_000_000_000);

    private final Rate rate;
    private final long capacity;
    private final long ticksPerNano;
    private final long ticksPerPermit;
    private final long fullDebt;
    private final boolean oneLong;

    private TokenBucket(Rate rate, long capacity) {
        check(rate, capacity);
        this.rate = rate;
        this.capacity = capacity;
        long common = gcd(rate.permits(), rate.periodNanos());
        long exactPermit = rate.periodNanos() / common;
        if (exactPermit <= MAX_DEBT / capacity) {
            this.ticksPerNano = rate.permits() / common;
            this.ticksPerPermit = exactPermit;
        } else {
            this.ticksPerNano = coarseTicksPerNano(rate, capacity);
            this.ticksPerPermit = coarseTicksPerPermit(rate, ticksPerNano, capacity);
        }
        this.fullDebt = capacity * ticksPerPermit;
        this.oneLong = ticksPerNano <= MAX_TICKS_IN_ONE_LONG;
    }

    /**
     * {@return a bucket that holds the permits of one period, refilled continuously}
     *
     * @param rate of the refill
     * @throws IllegalArgumentException if the rate cannot be represented; see {@link #of(Rate, long, Refill)}
     */
    public static TokenBucket of(Rate rate) {
        return new TokenBucket(rate, rate.permits());
    }

    /**
     * {@return a bucket that holds {@code burst} permits, refilled continuously}
     *
     * @param rate of the refill
     * @param burst at least 1, at most 2^61
     * @throws IllegalArgumentException if they cannot be represented; see {@link #of(Rate, long, Refill)}
     */
    public static TokenBucket of(Rate rate, long burst) {
        return new TokenBucket(rate, burst);
    }

    /**
     * {@return a bucket that holds {@code burst} permits, with this kind of refill}
     *
     * @param rate of the refill
     * @param burst at least 1; continuously refilled, at most 2^61
     * @param refill how tokens come back
     * @throws IllegalArgumentException if the rate is per month, or burst and rate cannot be represented: an empty
     *     bucket must be full again within 73 years, or 146 years for {@link Refill#INTERVAL}; and a continuous rate
     *     must be accurate to 1 in 10^9
     */
    public static LimitAlgorithm of(Rate rate, long burst, Refill refill) {
        return refill == Refill.CONTINUOUS ? new TokenBucket(rate, burst) : new IntervalTokenBucket(rate, burst);
    }

    static void check(Rate rate, long burst) {
        if (burst < 1) {
            throw new IllegalArgumentException("burst must be at least 1 but was " + burst);
        }
        if (rate.perMonth()) {
            throw new IllegalArgumentException("a token bucket cannot follow the calendar; for " + rate
                    + " use algorithm fixed-window with align: clock");
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
        return ceilDiv(fullDebt, ticksPerNano);
    }

    @Override
    public TokenBucket scaled(double share) {
        Share part = new Share(share);
        return of(part.ofRefill(rate, capacity), part.of(capacity));
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
    public boolean adopt(long[] state, int at, LimitAlgorithm former, long[] formerState, long now) {
        if (!(former instanceof TokenBucket bucket)) {
            return false;
        }
        long debt = Math.min(bucket.debt(formerState, 0, now), bucket.fullDebt);
        write(state, at, WideMath.share(debt, fullDebt, bucket.fullDebt), now);
        return true;
    }

    /** The missing ticks of the bucket now; more than a full bucket's if the clock was set back. */
    private long debt(long[] state, int at, long now) {
        if (oneLong) {
            return Math.max(0, state[at] - now * ticksPerNano);
        }
        long debt = state[at + 1];
        long elapsed = now - state[at];
        if (elapsed < 0) {
            // at most a full bucket each time, so that repeated steps do not overflow
            long back = elapsed == Long.MIN_VALUE ? Long.MAX_VALUE : -elapsed;
            return Math.min(debt, MAX_DEBT) + Math.min(back, MAX_DEBT / ticksPerNano) * ticksPerNano;
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

    /** The finest ticks with which a full bucket still fits, for a rate with too many exact ticks. */
    private static long coarseTicksPerNano(Rate rate, long capacity) {
        if (capacity > MAX_DEBT) {
            throw unrepresentable(rate, capacity, "burst must be at most " + MAX_DEBT);
        }
        BigInteger ticks = BigInteger.valueOf(MAX_DEBT / capacity)
                .multiply(BigInteger.valueOf(rate.permits()))
                .divide(BigInteger.valueOf(rate.periodNanos()));
        if (ticks.signum() == 0) {
            throw unrepresentable(rate, capacity, "an empty bucket must be full again within 73 years");
        }
        return ticks.min(BigInteger.valueOf(MAX_DEBT)).longValueExact();
    }

    /** The ticks a permit takes, rounded up, so that the limit is never exceeded. */
    private static long coarseTicksPerPermit(Rate rate, long ticksPerNano, long capacity) {
        BigInteger permits = BigInteger.valueOf(rate.permits());
        BigInteger exact = BigInteger.valueOf(rate.periodNanos()).multiply(BigInteger.valueOf(ticksPerNano));
        BigInteger rounded = exact.add(permits).subtract(BigInteger.ONE).divide(permits);
        BigInteger error = rounded.multiply(permits).subtract(exact);
        if (error.multiply(RATE_ERROR_OF).compareTo(exact) >= 0) {
            throw unrepresentable(rate, capacity, "with this burst, the rate is not accurate to 1 in 10^9");
        }
        return rounded.longValueExact();
    }

    private static IllegalArgumentException unrepresentable(Rate rate, long capacity, String why) {
        return new IllegalArgumentException(
                "a token bucket of " + rate + " with burst " + capacity + " cannot be represented: " + why);
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
