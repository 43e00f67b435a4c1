package dev.ratelimit.simulator.traffic;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.temporal.TemporalAccessor;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Reads times as logs write them: {@code [27/Nov/2026:12:00:00 +0100]}, {@code 2026-11-27T12:00:00.123Z} or with a space
 * in place of the T, and seconds, milliseconds, microseconds or nanoseconds since the epoch. Not thread-safe.
 */
final class TimeParser {

    /** Stands for a time that cannot be read. */
    static final long UNREADABLE = Long.MIN_VALUE;

    private static final DateTimeFormatter COMMON = formatter("dd/MMM/uuuu:HH:mm");
    private static final DateTimeFormatter ISO = formatter("uuuu-MM-dd['T'][ ]HH:mm");

    private static final Pattern EPOCH = Pattern.compile("\\d{1,19}(\\.\\d{1,19})?");

    /** Seconds up to this, in the year 2286; then milliseconds, microseconds and nanoseconds. */
    private static final BigDecimal MAX_SECONDS = BigDecimal.valueOf(9_999_999_999L);

    private static final long SECOND = 1_000_000_000L;

    private final ZoneId zone;

    /** The last second and its time, as many requests begin in the same one. */
    private String last = "";

    private long lastNanos = UNREADABLE;

    /** Whether all times so far were whole seconds. */
    private boolean whole = true;

    TimeParser(ZoneId zone) {
        this.zone = zone;
    }

    private static DateTimeFormatter formatter(String pattern) {
        return new DateTimeFormatterBuilder()
                .parseCaseInsensitive()
                .appendPattern(pattern + "[:ss][ ][XXX][XX][X]")
                .toFormatter(Locale.ENGLISH)
                .withResolverStyle(ResolverStyle.STRICT);
    }

    boolean allWholeSeconds() {
        return whole;
    }

    /** The time in nanoseconds since the epoch, or {@link #UNREADABLE}. */
    long parse(String text) {
        int from = text.startsWith("[") ? 1 : 0;
        int to = text.endsWith("]") ? text.length() - 1 : text.length();
        long nanos = read(text.substring(Math.min(from, to), to));
        whole &= nanos == UNREADABLE || nanos % SECOND == 0;
        return nanos;
    }

    private long read(String text) {
        try {
            if (text.length() <= 10 || (text.charAt(2) != '/' && text.charAt(4) != '-')) {
                return epoch(text);
            }
            int point = 10;
            while (point < text.length() && text.charAt(point) != '.' && text.charAt(point) != ',') {
                point++;
            }
            int end = Math.min(text.length(), point + 1);
            while (end < text.length() && Character.isDigit(text.charAt(end))) {
                end++;
            }
            String second = text.substring(0, point) + text.substring(end);
            if (!second.equals(last)) {
                lastNanos = nanos(text.charAt(2) == '/' ? COMMON : ISO, second);
                last = second;
            }
            return end == point ? lastNanos : lastNanos + fraction(text.substring(point + 1, end));
        } catch (DateTimeException | ArithmeticException | NumberFormatException e) {
            return UNREADABLE;
        }
    }

    /** In nanoseconds. */
    private static long fraction(String digits) {
        return Long.parseLong((digits + "000000000").substring(0, 9));
    }

    private long nanos(DateTimeFormatter formatter, String text) {
        TemporalAccessor read = formatter.parseBest(text, OffsetDateTime::from, LocalDateTime::from);
        ZonedDateTime time =
                read instanceof OffsetDateTime exact ? exact.toZonedDateTime() : ((LocalDateTime) read).atZone(zone);
        return Math.addExact(Math.multiplyExact(time.toEpochSecond(), SECOND), time.getNano());
    }

    private static long epoch(String text) {
        if (!EPOCH.matcher(text).matches()) {
            return UNREADABLE;
        }
        BigDecimal number = new BigDecimal(text);
        BigDecimal max = MAX_SECONDS;
        int unit = 9;
        while (unit > 0 && number.compareTo(max) > 0) {
            max = max.scaleByPowerOfTen(3);
            unit -= 3;
        }
        return number.scaleByPowerOfTen(unit).toBigInteger().longValueExact();
    }
}
