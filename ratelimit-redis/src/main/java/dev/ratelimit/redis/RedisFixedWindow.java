package dev.ratelimit.redis;

import dev.ratelimit.algorithm.FixedWindow;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.stream.LongStream;

/** {@code fixed-window.lua}: it answers with the state, and the start of the window. */
final class RedisFixedWindow extends RedisState {

    private static final int FIRST_PERMIT = 0;
    private static final int CLOCK = 1;
    private static final int CALENDAR = 2;
    private static final long SKEW_NANOS = Duration.ofDays(2).toNanos();

    private final FixedWindow window;
    private final boolean followsCalendar;

    private RedisFixedWindow(FixedWindow limit, long longestMicros, int align, String calendar) {
        super(limit, Script.Algorithm.FIXED_WINDOW, longestMicros, align, calendar);
        this.window = limit;
        this.followsCalendar = align == CALENDAR;
    }

    static RedisFixedWindow of(FixedWindow limit) {
        ZoneId zone = limit.zone();
        if (zone != null && (limit.rate().perMonth() || !zone.equals(ZoneOffset.UTC))) {
            String calendar = zone + " " + limit.rate().period();
            return new RedisFixedWindow(limit, limit.farthestEndNanos() / 1000, CALENDAR, calendar);
        }
        return new RedisFixedWindow(limit, periodMicros(limit), limit.wallClock() ? CLOCK : FIRST_PERMIT, "");
    }

    /** The window boundaries from two days before the window of this time to two days after it: clocks may differ. */
    @Override
    long[] boundaries(long nowMicros) {
        if (!followsCalendar) {
            return super.boundaries(nowMicros);
        }
        LongStream.Builder boundaries = LongStream.builder();
        long boundary = nowMicros * 1000 - window.replenishNanos() - SKEW_NANOS;
        while (boundary <= nowMicros * 1000 + SKEW_NANOS) {
            boundary = window.windowEnd(boundary);
            boundaries.add(boundary / 1000);
        }
        return boundaries.build().toArray();
    }

    @Override
    int numbers() {
        return super.numbers() + 1;
    }
}
