package dev.ratelimit.algorithm;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import java.time.Duration;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/**
 * At most N permits a window. A window is opened by the first admitted permit, or follows the clock: multiples of its
 * length since the epoch, whole days and months by the calendar of a zone.
 *
 * <p>The state is the end of the window and the permits taken in it. The cheapest algorithm, and the coarsest: across a
 * boundary up to 2N permits fit in a short span (2N - 1 where the first permit opens the window). Immutable.
 */
public final class FixedWindow implements Limit {

    /** Where windows start. */
    public enum Align {
        /** At the first permit after the last window. */
        FIRST_HIT,
        /** At multiples of the window by the wall clock. */
        CLOCK
    }

    private final Rate rate;
    private final Windows windows;

    private FixedWindow(Rate rate, Windows windows) {
        this.rate = rate;
        this.windows = windows;
    }

    /**
     * Windows opened by the first permit.
     *
     * @throws IllegalArgumentException when the rate is per month
     */
    public static Limit of(Rate rate) {
        if (rate.perMonth()) {
            throw new IllegalArgumentException("months follow the calendar; for " + rate + " set align: clock");
        }
        return new FixedWindow(rate, new Windows.FirstHit(rate.periodNanos()));
    }

    /**
     * Windows that follow the wall clock.
     *
     * @param zone whose midnight starts whole days and months; other lengths are multiples since the epoch in UTC
     */
    public static Limit onClock(Rate rate, ZoneId zone) {
        if (rate.perMonth()) {
            return new FixedWindow(rate, new Windows.Months(zone));
        }
        Duration period = (Duration) rate.period();
        boolean wholeDays = period.equals(Duration.ofDays(period.toDays()));
        return new FixedWindow(
                rate, wholeDays ? new Windows.Days(period.toDays(), zone) : new Windows.OnClock(rate.periodNanos()));
    }

    /**
     * The end of the window that contains this time, or that a permit opens then; it is the next one's start.
     *
     * @param now in nanoseconds, on the timeline of {@link #wallClock()}
     */
    public long windowEnd(long now) {
        return windows.end(now);
    }

    /** Whose midnight starts the windows; {@code null} where they do not follow a calendar. */
    public @Nullable ZoneId zone() {
        return windows.zone();
    }

    @Override
    public Rate rate() {
        return rate;
    }

    @Override
    public long capacity() {
        return rate.permits();
    }

    @Override
    public long replenishNanos() {
        return windows.longest();
    }

    @Override
    public boolean wallClock() {
        return windows.wallClock();
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
        if (!open(state, at, now)) {
            state[at] = windows.end(now);
            state[at + 1] = 0;
        }
        state[at + 1] += permits;
    }

    @Override
    public void refund(long[] state, int at, long permits, long ageNanos, long now) {
        boolean thisWindow = open(state, at, now) && now - ageNanos - windows.start(state[at]) >= 0;
        if (thisWindow) {
            state[at + 1] = Math.max(0, state[at + 1] - permits);
        }
    }

    @Override
    public long remaining(long[] state, int at, long now) {
        return rate.permits() - (open(state, at, now) ? state[at + 1] : 0);
    }

    @Override
    public long retryAfterNanos(long[] state, int at, long permits, long now) {
        if (permits > rate.permits()) {
            return NEVER;
        }
        return admits(state, at, permits, now) ? 0 : state[at] - now;
    }

    @Override
    public long fullAfterNanos(long[] state, int at, long now) {
        return open(state, at, now) ? state[at] - now : 0;
    }

    @Override
    public boolean adopt(long[] state, int at, Limit former, long[] formerState, long now) {
        if (!(former instanceof FixedWindow window && window.windows.equals(windows))) {
            return false;
        }
        state[at] = formerState[0];
        state[at + 1] = WideMath.mulDivCeil(formerState[1], rate.permits(), former.capacity());
        return true;
    }

    /** Whether permits are charged to a window that contains now. */
    private boolean open(long[] state, int at, long now) {
        long left = state[at] - now;
        return state[at + 1] > 0 && left > 0 && left <= windows.farthest();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FixedWindow window && rate.equals(window.rate) && windows.equals(window.windows);
    }

    @Override
    public int hashCode() {
        return 31 * rate.hashCode() + windows.hashCode();
    }

    @Override
    public String toString() {
        return rate + " (fixed-window" + windows + ")";
    }
}
