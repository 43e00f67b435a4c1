package dev.ratelimit.simulator.traffic;

import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Arrays;

/**
 * Reads times as logs write them: {@code [27/Nov/2026:12:00:00 +0100]}, {@code 2026-11-27T12:00:00.123Z} or with a space
 * in place of the T, and seconds, milliseconds, microseconds or nanoseconds since the epoch. Not thread-safe.
 */
final class TimeParser {

    /** Stands for a time that cannot be read. */
    static final long UNREADABLE = Long.MIN_VALUE;

    private static final String MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";
    private static final long SECOND = 1_000_000_000L;

    /** Seconds up to this, in the year 2286; then milliseconds, microseconds and nanoseconds. */
    private static final long MAX_SECONDS = 9_999_999_999L;

    private final ZoneId zone;

    /** The last text and its time, as many requests begin in the same second. */
    private byte[] last = new byte[0];

    private long lastNanos = UNREADABLE;

    /** Whether all times so far were whole seconds. */
    private boolean whole = true;

    private byte[] line = last;
    private int at;
    private int end;

    TimeParser(ZoneId zone) {
        this.zone = zone;
    }

    boolean allWholeSeconds() {
        return whole;
    }

    /** The time in nanoseconds since the epoch, or {@link #UNREADABLE}. */
    long parse(byte[] text, int from, int to) {
        if (Arrays.equals(text, from, to, last, 0, last.length)) {
            return lastNanos;
        }
        line = text;
        at = from;
        end = to;
        long nanos = read();
        last = Arrays.copyOfRange(text, from, to);
        lastNanos = nanos;
        whole &= nanos % SECOND == 0;
        return nanos;
    }

    private long read() {
        if (at < end && line[at] == '[') {
            at++;
        }
        if (at < end && line[end - 1] == ']') {
            end--;
        }
        try {
            if (at + 10 <= end && line[at + 2] == '/') {
                return common();
            }
            if (at + 10 <= end && line[at + 4] == '-') {
                return iso();
            }
            return epoch();
        } catch (DateTimeException | ArithmeticException e) {
            return UNREADABLE;
        }
    }

    /** Such as {@code 27/Nov/2026:12:00:00 +0100}. */
    private long common() {
        int day = digits(2);
        expect('/');
        int month = MONTHS.indexOf(new String(line, at, 3, StandardCharsets.ISO_8859_1));
        at += 3;
        expect('/');
        int year = digits(4);
        expect(':');
        if (month < 0 || month % 3 != 0) {
            return UNREADABLE;
        }
        return atTime(LocalDate.of(year, month / 3 + 1, day));
    }

    private long iso() {
        int year = digits(4);
        expect('-');
        int month = digits(2);
        expect('-');
        int day = digits(2);
        if (at < end && (line[at] == 'T' || line[at] == ' ' || line[at] == 't')) {
            at++;
        }
        return atTime(LocalDate.of(year, month, day));
    }

    private long atTime(LocalDate date) {
        int hour = digits(2);
        expect(':');
        int minute = digits(2);
        int second = 0;
        if (at < end && line[at] == ':') {
            at++;
            second = Math.min(digits(2), 59);
        }
        long fraction = at < end && (line[at] == '.' || line[at] == ',') ? fraction() : 0;
        LocalDateTime local = date.atTime(hour, minute, second);
        while (at < end && line[at] == ' ') {
            at++;
        }
        long seconds =
                at == end ? local.atZone(zone).toEpochSecond() : local.toEpochSecond(ZoneOffset.UTC) - offsetSeconds();
        return at == end ? Math.addExact(Math.multiplyExact(seconds, SECOND), fraction) : UNREADABLE;
    }

    /** Such as {@code Z}, {@code +0100} or {@code -05:30}. */
    private int offsetSeconds() {
        if (line[at] == 'Z' || line[at] == 'z') {
            at++;
            return 0;
        }
        int sign = line[at] == '-' ? -1 : 1;
        if (line[at] != '-') {
            expect('+');
        } else {
            at++;
        }
        int hours = digits(2);
        if (at < end && line[at] == ':') {
            at++;
        }
        int minutes = at < end ? digits(2) : 0;
        // no zone is further away than 18 hours
        return ZoneOffset.ofHoursMinutes(sign * hours, sign * minutes).getTotalSeconds();
    }

    /** What follows the point, in nanoseconds. */
    private long fraction() {
        at++;
        long nanos = 0;
        int digits = 0;
        for (; at < end && line[at] >= '0' && line[at] <= '9'; at++) {
            if (digits < 9) {
                nanos = nanos * 10 + line[at] - '0';
                digits++;
            }
        }
        for (; digits < 9; digits++) {
            nanos *= 10;
        }
        return nanos;
    }

    private long epoch() {
        long number = 0;
        int first = at;
        for (; at < end && line[at] >= '0' && line[at] <= '9'; at++) {
            number = Math.addExact(Math.multiplyExact(number, 10L), line[at] - '0');
        }
        if (at == first) {
            return UNREADABLE;
        }
        long unit = SECOND;
        for (long max = MAX_SECONDS; number > max && unit > 1; max *= 1000) {
            unit /= 1000;
        }
        long fraction = 0;
        if (at < end && line[at] == '.') {
            fraction = fraction() / (SECOND / unit);
        }
        return at == end ? Math.addExact(Math.multiplyExact(number, unit), fraction) : UNREADABLE;
    }

    private int digits(int count) {
        int number = 0;
        for (int i = 0; i < count; i++, at++) {
            if (at >= end || line[at] < '0' || line[at] > '9') {
                throw new DateTimeException("not a digit");
            }
            number = number * 10 + line[at] - '0';
        }
        return number;
    }

    private void expect(char c) {
        if (at >= end || line[at] != c) {
            throw new DateTimeException("not " + c);
        }
        at++;
    }
}
