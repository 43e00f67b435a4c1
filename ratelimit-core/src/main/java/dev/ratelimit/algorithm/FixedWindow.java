package dev.ratelimit.algorithm;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * At most N permits per window. The first admitted permit opens a window, or windows follow the clock: multiples of
 * their length since the epoch, or whole days and months in the calendar of a zone.
 *
 * <p>The state is the end of the window and the permits taken in it. If the clock is set back, permits stay used until
 * that end, or for one period if the end is further away; {@link #admits} writes the end of that period into the state
 * at the first question after the step. The cheapest and least precise algorithm: around a boundary, up to 2N permits
 * fit into a short time (2N - 1 if the first permit opens the window). Immutable.
 */
public final class FixedWindow implements LimitAlgorithm {

    /** Where windows start. */
    public enum Align {
        /** At the first permit after the previous window. */
        FIRST_HIT,
        /** At multiples of the window by the wall clock. */
        CLOCK
    }

    private final Rate rate;
    private final Windows windows;
    private final long farthest;

    private FixedWindow(Rate rate, Windows windows) {
        this.rate = rate;
        this.windows = windows;
        this.farthest = windows.farthest();
    }

    /**
     * {@return windows that the first permit opens}
     *
     * @param rate the permits of a window, and its length
     * @throws IllegalArgumentException if the rate is per month
     */
    public static FixedWindow of(Rate rate) {
        if (rate.perMonth()) {
            throw new IllegalArgumentException("months follow the calendar; for " + rate + " set align: clock");
        }
        return new FixedWindow(rate, new Windows.FirstHit(rate.periodNanos()));
    }

    /**
     * {@return windows that follow the wall clock}
     *
     * @param rate the permits of a window, and its length: a month, or at most 36,500 days
     * @param zone the time zone of whole days and months; other windows are multiples of their length since the epoch
     *     in UTC
     * @throws IllegalArgumentException if the windows are longer
     */
    public static FixedWindow onClock(Rate rate, ZoneId zone) {
        if (rate.perMonth()) {
            return new FixedWindow(rate, new Windows.Months(zone));
        }
        Duration period = (Duration) rate.period();
        boolean wholeDays = period.equals(Duration.ofDays(period.toDays()));
        return new FixedWindow(
                rate, wholeDays ? new Windows.Days(period.toDays(), zone) : new Windows.OnClock(rate.periodNanos()));
    }

    /**
     * {@return the end of the window that contains this time, or that a permit opens then; it is also the start of the
     * next window} In nanoseconds, on the same timeline.
     *
     * @param now in nanoseconds, on the timeline of {@link #wallClock()}
     */
    public long windowEnd(long now) {
        return windows.end(now);
    }

    /**
     * {@return how far ahead a window may end, in nanoseconds: the length of the longest, including the hours that a
     * zone's clocks repeat} If a window ends later, the clock has been set back. {@link Long#MAX_VALUE} on a monotonic
     * clock.
     */
    public long farthestEndNanos() {
        return farthest;
    }

    /** {@return the time zone of the windows; {@code null} if they do not follow a calendar} */
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
    public FixedWindow scaled(double share) {
        Rate part = new Share(share).of(rate);
        return wallClock() ? onClock(part, Objects.requireNonNullElse(zone(), ZoneOffset.UTC)) : of(part);
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
        state[at] = end(state, at, now);
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
        boolean thisWindow = open(state, at, now) && now - ageNanos - windows.start(end(state, at, now)) >= 0;
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
        return permits <= remaining(state, at, now) ? 0 : end(state, at, now) - now;
    }

    @Override
    public long fullAfterNanos(long[] state, int at, long now) {
        return open(state, at, now) ? end(state, at, now) - now : 0;
    }

    @Override
    public boolean beginsAfter(long[] state, int at, long now) {
        return state[at + 1] > 0 && state[at] - now > 0 && windows.start(state[at]) - now > 0;
    }

    @Override
    public boolean adopt(long[] state, int at, LimitAlgorithm former, long[] formerState, long now) {
        if (!(former instanceof FixedWindow window && window.wallClock() == wallClock())) {
            return false;
        }
        if (window.open(formerState, 0, now)) {
            // one that is over has nothing to keep; the next one begins where those of this limit begin
            long longest = wallClock() ? farthest : windows.longest();
            state[at] = now + Math.min(window.end(formerState, 0, now) - now, longest);
            state[at + 1] = WideMath.share(formerState[1], rate.permits(), former.capacity());
        }
        return true;
    }

    /** Whether the permits belong to a window that contains now. */
    private boolean open(long[] state, int at, long now) {
        return state[at + 1] > 0 && end(state, at, now) - now > 0;
    }

    /**
     * The end of the window that the permits belong to. A window that was opened before the clock was set back may be
     * in the future: it lasts one period from now on.
     */
    private long end(long[] state, int at, long now) {
        return state[at] - now <= farthest ? state[at] : now + farthest;
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
