package dev.ratelimit.algorithm;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where the windows of a {@link FixedWindow} start and end, in nanoseconds. Half open: the end is the start of the next
 * one.
 */
sealed interface Windows {

    long NANOS_A_DAY = 86_400_000_000_000L;

    /** The end of the window that contains this time, or that a permit opens then. */
    long end(long now);

    /** The start of the window with this end; not a boundary if the clock was set back and the window was moved. */
    default long start(long end) {
        return end - longest();
    }

    /** The length of the longest window, for days of the usual length. */
    long longest();

    /** How far ahead a window may end; one that ends later was opened before the clock was set back. */
    default long farthest() {
        return longest();
    }

    default boolean wallClock() {
        return true;
    }

    /** The time zone of the calendar, if they follow one. */
    default @Nullable ZoneId zone() {
        return null;
    }

    record FirstHit(long longest) implements Windows {

        @Override
        public long end(long now) {
            return now + longest;
        }

        @Override
        public boolean wallClock() {
            return false;
        }

        /** A monotonic clock is not set back. */
        @Override
        public long farthest() {
            return Long.MAX_VALUE;
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
            long first = firstDay(now);
            long start = midnight(first, zone);
            // before the window if the day begins twice
            return start > now ? start : midnight(first + days, zone);
        }

        @Override
        public long start(long end) {
            long start = midnight(firstDay(end - 1), zone);
            return end(start) == end ? start : end - farthest();
        }

        @Override
        public long longest() {
            return days * NANOS_A_DAY;
        }

        @Override
        public long farthest() {
            return longest() + repeated(zone);
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
            long start = midnight(first.toEpochDay(), zone);
            return start > now ? start : midnight(first.plusMonths(1).toEpochDay(), zone);
        }

        @Override
        public long start(long end) {
            long start = midnight(date(end - 1, zone).withDayOfMonth(1).toEpochDay(), zone);
            return end(start) == end ? start : end - farthest();
        }

        @Override
        public long longest() {
            return 31 * NANOS_A_DAY;
        }

        @Override
        public long farthest() {
            return longest() + repeated(zone);
        }

        @Override
        public String toString() {
            return ", align clock, zone " + zone;
        }
    }

    /** The maximum by which a day of the zone is longer than others, since 1970: by this, its clocks are set back. */
    private static long repeated(ZoneId zone) {
        ZoneRules rules = zone.getRules();
        Stream<ZoneOffsetTransition> past = rules.getTransitions().stream()
                .filter(change -> change.getInstant().isAfter(Instant.EPOCH));
        Stream<ZoneOffsetTransition> yearly =
                rules.getTransitionRules().stream().map(rule -> rule.createTransition(2100));
        return Stream.concat(past, yearly)
                .map(change -> change.getDuration().negated().toNanos())
                .reduce(0L, Math::max);
    }

    private static LocalDate date(long epochNanos, ZoneId zone) {
        return Instant.ofEpochSecond(0, epochNanos).atZone(zone).toLocalDate();
    }

    /**
     * The start of the day. If a zone set its clocks back across midnight, so that the day began twice, the second one.
     */
    private static long midnight(long epochDay, ZoneId zone) {
        Instant start = LocalDate.ofEpochDay(epochDay)
                .atStartOfDay(zone)
                .withLaterOffsetAtOverlap()
                .toInstant();
        return Math.addExact(Math.multiplyExact(start.getEpochSecond(), 1_000_000_000L), start.getNano());
    }
}
