package dev.ratelimit.algorithm;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;

/**
 * Two counters: the previous window counts by the share of it that a window ending now still covers.
 * {@code estimate = previous * (W - elapsed) / W + current}, compared without division.
 *
 * <p>The state is the start of the current window and the two counts. Windows start at the first admitted permit, and
 * start again after two idle ones. An estimate, not exact: in one window's length up to {@code 2N - 1} permits fit,
 * with {@link Rounding#FLOOR} {@code 2N}. Immutable.
 */
public final class SlidingWindow implements LimitAlgorithm {

    /** What is compared with the limit. */
    public enum Rounding {
        /** The exact estimate. */
        EXACT,
        /** The estimate rounded down, as other libraries do; admits a little more. */
        FLOOR
    }

    private static final long MAX_PERMITS = 1L << 62;

    private final Rate rate;
    private final Rounding rounding;
    private final long limit;
    private final long window;

    private SlidingWindow(Rate rate, Rounding rounding) {
        if (rate.perMonth() || rate.periodNanos() > Long.MAX_VALUE / 4) {
            throw new IllegalArgumentException(
                    "a sliding window cannot follow the calendar and is at most 73 years long; for " + rate
                            + " use algorithm fixed-window with align: clock");
        }
        if (rate.permits() > MAX_PERMITS) {
            throw new IllegalArgumentException(
                    "a sliding window holds at most " + MAX_PERMITS + " permits but was given " + rate);
        }
        this.rate = rate;
        this.rounding = rounding;
        this.limit = rate.permits();
        this.window = rate.periodNanos();
    }

    /**
     * {@return a limit that compares the exact estimate}
     *
     * @param rate at most 2^62 permits per window of at most 73 years
     * @throws IllegalArgumentException if the rate is per month, or out of range
     */
    public static SlidingWindow of(Rate rate) {
        return of(rate, Rounding.EXACT);
    }

    /**
     * {@return a limit that compares the estimate with this rounding}
     *
     * @param rate at most 2^62 permits per window of at most 73 years
     * @param rounding what is compared with the limit
     * @throws IllegalArgumentException if the rate is per month, or out of range
     */
    public static SlidingWindow of(Rate rate, Rounding rounding) {
        return new SlidingWindow(rate, rounding);
    }

    /** {@return what is compared with the limit} */
    public Rounding rounding() {
        return rounding;
    }

    @Override
    public Rate rate() {
        return rate;
    }

    @Override
    public long capacity() {
        return limit;
    }

    @Override
    public long replenishNanos() {
        return window;
    }

    @Override
    public SlidingWindow scaled(double share) {
        return of(new Share(share).of(rate), rounding);
    }

    @Override
    public int stateSize() {
        return 3;
    }

    @Override
    public void clear(long[] state, int at, long now) {
        state[at] = now;
        state[at + 1] = 0;
        state[at + 2] = 0;
    }

    @Override
    public boolean admits(long[] state, int at, long permits, long now) {
        long free = limit - current(state, at, now) - permits;
        return free >= 0 && weightFits(previous(state, at, now), window - elapsed(state, at, now), free);
    }

    @Override
    public void charge(long[] state, int at, long permits, long now) {
        roll(state, at, now);
        state[at + 2] += permits;
    }

    @Override
    public void refund(long[] state, int at, long permits, long ageNanos, long now) {
        long charged = now - ageNanos;
        roll(state, at, now);
        if (charged - state[at] >= 0) {
            state[at + 2] = Math.max(0, state[at + 2] - permits);
        } else if (charged - state[at] >= -window) {
            state[at + 1] = Math.max(0, state[at + 1] - permits);
        }
    }

    @Override
    public long remaining(long[] state, int at, long now) {
        long previous = previous(state, at, now);
        long covered = window - elapsed(state, at, now);
        long weight = rounding == Rounding.EXACT
                ? WideMath.mulDivCeil(previous, covered, window)
                : WideMath.mulDivFloor(previous, covered, window);
        return Math.max(0, limit - current(state, at, now) - weight);
    }

    @Override
    public long retryAfterNanos(long[] state, int at, long permits, long now) {
        if (permits > limit) {
            return NEVER;
        }
        if (admits(state, at, permits, now)) {
            return 0;
        }
        long elapsed = elapsed(state, at, now);
        long current = current(state, at, now);
        if (limit - current - permits >= 0) {
            return fitsAt(previous(state, at, now), limit - current - permits) - elapsed;
        }
        return window - elapsed + fitsAt(current, limit - permits);
    }

    @Override
    public long fullAfterNanos(long[] state, int at, long now) {
        long elapsed = elapsed(state, at, now);
        if (current(state, at, now) > 0) {
            return 2 * window - elapsed;
        }
        return previous(state, at, now) > 0 ? window - elapsed : 0;
    }

    @Override
    public boolean beginsAfter(long[] state, int at, long now) {
        return (state[at + 1] > 0 || state[at + 2] > 0) && now - state[at] < 0;
    }

    @Override
    public boolean adopt(long[] state, int at, LimitAlgorithm former, long[] formerState, long now) {
        if (!(former instanceof SlidingWindow other)) {
            return false;
        }
        long elapsed = other.elapsed(formerState, 0, now);
        // the same part of the window is over; one that starts later was charged before a step back of the clock
        state[at] =
                now - formerState[0] < 0 ? formerState[0] : now - WideMath.mulDivFloor(elapsed, window, other.window);
        state[at + 1] = WideMath.share(other.previous(formerState, 0, now), limit, other.limit);
        state[at + 2] = WideMath.share(other.current(formerState, 0, now), limit, other.limit);
        return true;
    }

    /** Whether {@code previous}, weighted by the covered part of its window, is at most {@code free}. */
    private boolean weightFits(long previous, long covered, long free) {
        if (rounding == Rounding.EXACT) {
            return WideMath.productAtMost(previous, covered, free, window);
        }
        // floor(x) <= free is x < free + 1
        return !WideMath.productAtMost(free + 1, window, previous, covered);
    }

    /**
     * The minimum time since the start of a window after which {@code previous}, which is more, leaves {@code free}.
     */
    private long fitsAt(long previous, long free) {
        if (rounding == Rounding.EXACT) {
            return window - WideMath.mulDivFloor(free, window, previous);
        }
        // the maximum cover with previous * cover < (free + 1) * window
        return window + 1 - WideMath.mulDivCeil(free + 1, window, previous);
    }

    private void roll(long[] state, int at, long now) {
        long previous = previous(state, at, now);
        long current = current(state, at, now);
        if (previous == 0 && current == 0) {
            clear(state, at, now);
        } else if (now - state[at] >= window) {
            state[at] += window;
            state[at + 1] = previous;
            state[at + 2] = current;
        }
    }

    /** How many windows have begun since the state was written: 0, 1 or, for all longer times, 2. */
    private int begun(long[] state, int at, long now) {
        long age = now - state[at];
        if (age < window) {
            return 0;
        }
        return age - window < window ? 1 : 2;
    }

    private long previous(long[] state, int at, long now) {
        return switch (begun(state, at, now)) {
            case 0 -> state[at + 1];
            case 1 -> state[at + 2];
            default -> 0;
        };
    }

    private long current(long[] state, int at, long now) {
        return begun(state, at, now) == 0 ? state[at + 2] : 0;
    }

    private long elapsed(long[] state, int at, long now) {
        return switch (begun(state, at, now)) {
            case 0 -> Math.max(0, now - state[at]);
            case 1 -> now - state[at] - window;
            default -> 0;
        };
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SlidingWindow sliding && rate.equals(sliding.rate) && rounding == sliding.rounding;
    }

    @Override
    public int hashCode() {
        return 31 * rate.hashCode() + rounding.hashCode();
    }

    @Override
    public String toString() {
        return rate + " (sliding-window" + (rounding == Rounding.EXACT ? ")" : ", rounding floor)");
    }
}
