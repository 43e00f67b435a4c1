package dev.ratelimit.algorithm;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/** Where the windows of a {@link FixedWindow} start and end, in nanoseconds. Half open: the end is the next one's start. */
sealed interface Windows {

    /** The end of the window that contains this time, or that a permit opens then. */
    long end(long now);

    /** The start of the window with this end. */
    long start(long end);

    /** The length of the longest window. */
    long longest();

    /**
     * How far ahead the end of a window may lie before it must have been written by a clock that was set back since. By
     * the wall clock, two windows: a step back of less than one keeps the window until its end, so that it credits
     * nothing; a larger one starts anew, so that it locks nobody out. A monotonic clock is not set back.
     */
    default long farthest() {
        return wallClock() ? 2 * longest() : Long.MAX_VALUE;
    }

    default boolean wallClock() {
        return true;
    }

    /** Whose calendar they follow, if any. */
    default @Nullable ZoneId zone() {
        return null;
    }

    record FirstHit(long longest) implements Windows {

        @Override
        public long end(long now) {
            return now + longest;
        }

        @Override
        public long start(long end) {
            return end - longest;
        }

        @Override
        public boolean wallClock() {
            return false;
        }

        @Override
        public String toString() {
            return "";
        }
    }

    record OnClock(long longest) implements Windows {

        public OnClock {
            if (longest > Duration.ofDays(36_500).toNanos()) {
                throw new IllegalArgumentException(
                        "period must be at most 36500 days with align: clock but was " + Duration.ofNanos(longest));
            }
        }

        @Override
        public long end(long now) {
            return (Math.floorDiv(now, longest) + 1) * longest;
        }

        @Override
        public long start(long end) {
            return end - longest;
        }

        @Override
        public String toString() {
            return ", align clock";
        }
    }

    record Days(long days, ZoneId zone) implements Windows {

        public Days {
            if (days > 36_500) {
                throw new IllegalArgumentException(
                        "period must be at most 36500 days with align: clock but was " + days);
            }
        }

        @Override
        public long end(long now) {
            return midnight(firstDay(now) + days, zone);
        }

        @Override
        public long start(long end) {
            return midnight(firstDay(end - 1), zone);
        }

        /** Of days as they mostly are; one on which the zone sets its clocks back is an hour longer. */
        @Override
        public long longest() {
            return Duration.ofDays(days).toNanos();
        }

        private long firstDay(long now) {
            return Math.floorDiv(date(now, zone).toEpochDay(), days) * days;
        }

        @Override
        public String toString() {
            return ", align clock, zone " + zone;
        }
    }

    record Months(ZoneId zone) implements Windows {

        @Override
        public long end(long now) {
            LocalDate first = date(now, zone).withDayOfMonth(1);
            return midnight(first.plusMonths(1).toEpochDay(), zone);
        }

        @Override
        public long start(long end) {
            return midnight(date(end - 1, zone).withDayOfMonth(1).toEpochDay(), zone);
        }

        @Override
        public long longest() {
            return Duration.ofDays(31).toNanos();
        }

        @Override
        public String toString() {
            return ", align clock, zone " + zone;
        }
    }

    private static LocalDate date(long epochNanos, ZoneId zone) {
        return Instant.ofEpochSecond(0, epochNanos).atZone(zone).toLocalDate();
    }

    private static long midnight(long epochDay, ZoneId zone) {
        Instant start = LocalDate.ofEpochDay(epochDay).atStartOfDay(zone).toInstant();
        return Math.addExact(Math.multiplyExact(start.getEpochSecond(), 1_000_000_000L), start.getNano());
    }
}
