package dev.ratelimit.algorithm;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import dev.ratelimit.Reservation;
import java.time.Duration;

/**
 * At most N permits at once: they come back when they are refunded, not with time. Reserve a permit before the work,
 * and release the reservation after it:
 *
 * <pre>{@code
 * Reservation reservation = limiter.reserve(Policy.of("exports", Concurrency.of(10)).charge(tenant));
 * if (reservation.admitted()) {
 *     try {
 *         export();
 *     } finally {
 *         reservation.release();
 *     }
 * }
 * }</pre>
 *
 * <p>A policy with this limit has no rates; for both, charge two policies ({@link Reservation#release}).
 *
 * <p>A permit that is never refunded, because its holder died, comes back after {@link #maxHold}. So does the permit of
 * work that takes longer; its refund then has no effect. Nobody knows when a permit will be refunded: a refusal
 * suggests to retry after one second, or when the oldest permit has been held for {@code maxHold}, whichever is sooner.
 *
 * <p>The state is that of a {@link SlidingLog}: the time of each permit that is held. Changing the limit does not
 * change which permits are held. Immutable.
 */
public final class Concurrency implements LimitAlgorithm {

    /** The maximum time for which a permit can be held if none is given: ten minutes. */
    public static final Duration DEFAULT_MAX_HOLD = Duration.ofMinutes(10);

    /** The wait after which to retry, because nobody knows when a permit comes back: one second. */
    public static final Duration MAX_RETRY = Duration.ofSeconds(1);

    private final SlidingLog held;

    private Concurrency(SlidingLog held) {
        this.held = held;
    }

    private static SlidingLog log(Rate rate) {
        if (rate.permits() > SlidingLog.MAX_PERMITS) {
            throw new IllegalArgumentException("a concurrency limit has at most " + SlidingLog.MAX_PERMITS
                    + " permits but was given " + rate.permits());
        }
        return SlidingLog.of(rate);
    }

    /**
     * {@return a limit of this many permits at once, each for at most {@link #DEFAULT_MAX_HOLD}}
     *
     * @param permits from 1 to 1,000,000
     * @throws IllegalArgumentException if {@code permits} is out of range
     */
    public static Concurrency of(long permits) {
        return of(permits, DEFAULT_MAX_HOLD);
    }

    /**
     * {@return a limit of this many permits at once, each for at most a time}
     *
     * @param permits from 1 to 1,000,000
     * @param maxHold above zero, at most 292 years; longer than any work that holds a permit
     * @throws IllegalArgumentException if {@code permits} or {@code maxHold} is out of range
     */
    public static Concurrency of(long permits, Duration maxHold) {
        return of(Rate.of(permits, maxHold));
    }

    /** Admits the permits of a rate at once, each for at most its period. */
    static Concurrency of(Rate rate) {
        return new Concurrency(log(rate));
    }

    /** {@return the maximum time for which a permit can be held} */
    public Duration maxHold() {
        return Duration.ofNanos(held.replenishNanos());
    }

    /** The permits per {@link #maxHold}. */
    @Override
    public Rate rate() {
        return held.rate();
    }

    @Override
    public long capacity() {
        return held.capacity();
    }

    @Override
    public long replenishNanos() {
        return held.replenishNanos();
    }

    @Override
    public boolean concurrency() {
        return true;
    }

    @Override
    public String describe() {
        return capacity() + " at once";
    }

    @Override
    public Concurrency scaled(double share) {
        return new Concurrency(held.scaled(share));
    }

    @Override
    public int stateSize() {
        return held.stateSize();
    }

    @Override
    public boolean grows() {
        return true;
    }

    @Override
    public void clear(long[] state, int at, long now) {
        held.clear(state, at, now);
    }

    @Override
    public boolean admits(long[] state, int at, long permits, long now) {
        // refuses even 0 permits while more are held, under a former limit
        return permits <= held.remaining(state, at, now);
    }

    @Override
    public void charge(long[] state, int at, long permits, long now) {
        held.chargeAsOf(state, at, permits, now);
    }

    @Override
    public void refund(long[] state, int at, long permits, long ageNanos, long now) {
        held.refund(state, at, permits, ageNanos, now);
    }

    /** 0 if more permits are held, under a former limit. */
    @Override
    public long remaining(long[] state, int at, long now) {
        return Math.max(0, held.remaining(state, at, now));
    }

    @Override
    public long retryAfterNanos(long[] state, int at, long permits, long now) {
        if (permits > capacity()) {
            return NEVER;
        }
        return Math.min(MAX_RETRY.toNanos(), held.retryAfterNanos(state, at, permits, now));
    }

    @Override
    public long fullAfterNanos(long[] state, int at, long now) {
        return held.fullAfterNanos(state, at, now);
    }

    @Override
    public long[] grow(long[] state, int at, long permits, long now) {
        return held.grow(state, at, permits, now);
    }

    @Override
    public boolean adopt(long[] state, int at, LimitAlgorithm former, long[] formerState, long now) {
        if (!(former instanceof Concurrency other) || state.length - at < formerState.length) {
            return false;
        }
        other.held.copyLive(formerState, state, at, now);
        return true;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Concurrency concurrency && held.equals(concurrency.held);
    }

    @Override
    public int hashCode() {
        return 31 * held.hashCode() + 1;
    }

    @Override
    public String toString() {
        return describe() + " (concurrency, max-hold " + Rate.notation(maxHold()) + ")";
    }
}
