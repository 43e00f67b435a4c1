package dev.ratelimit;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Period;
import java.time.temporal.TemporalAmount;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A number of permits per period, such as {@code "100/minute"}; an algorithm defines how it is applied.
 *
 * <p>The period is a {@link Duration} of 1 ns to 292 years, or one calendar month ({@code Period.ofMonths(1)}), which
 * only clock-aligned windows can follow. Immutable.
 *
 * @param permits at least 1
 * @param period a positive {@link Duration}, or {@code Period.ofMonths(1)}
 */
public record Rate(long permits, TemporalAmount period) {

    private static final Map<String, Duration> UNITS = units();
    private static final Map<String, String> WORDS = words();
    private static final Pattern PER = Pattern.compile("/|\\sper(?=\\s|$)");
    private static final Period MONTH = Period.ofMonths(1);
    private static final Duration MAX_PERIOD = Duration.ofNanos(Long.MAX_VALUE);
    private static final String PERIODS =
            "write second, minute, hour, day or month, a number with ms, s, m, h or d such as 10s, or an ISO duration";

    /**
     * Validates both components.
     *
     * @param permits at least 1
     * @param period a positive {@link Duration}, or {@code Period.ofMonths(1)}
     * @throws IllegalArgumentException if permits or period is out of range
     */
    public Rate {
        if (permits < 1) {
            throw new IllegalArgumentException("permits must be at least 1 but was " + permits);
        }
        if (period instanceof Duration duration) {
            if (duration.isNegative() || duration.isZero() || duration.compareTo(MAX_PERIOD) > 0) {
                throw new IllegalArgumentException("period must be from 1 ns to 292 years but was " + duration);
            }
        } else if (!period.equals(MONTH)) {
            throw new IllegalArgumentException("period must be a Duration or one month but was " + period);
        }
    }

    /**
     * {@return a rate over a duration}
     *
     * @param permits at least 1
     * @param period from 1 ns to 292 years
     * @throws IllegalArgumentException if permits or period is out of range
     */
    public static Rate of(long permits, Duration period) {
        return new Rate(permits, period);
    }

    /**
     * Parses one rate: {@code N/period} or {@code N per period}. The period is {@code second}, {@code minute},
     * {@code hour}, {@code day}, {@code month} or {@code s m h d}, a number with a unit ({@code 10s}, {@code 5m},
     * {@code 24h}, {@code 250ms}), or an ISO duration ({@code PT10S}). Common abbreviations and plurals are accepted in
     * any case: {@code 5/min}, {@code 100/Hours}.
     *
     * @param text such as {@code 100/minute}; surrounding whitespace is ignored
     * @return the rate
     * @throws IllegalArgumentException if the text is not a rate; the message describes the mistake
     */
    public static Rate parse(String text) {
        return parse(text, MisspeltRate::meant);
    }

    /**
     * Parses one rate.
     *
     * @param meant what was probably meant by a text that is not a rate, or {@code null}
     */
    static Rate parse(String text, Function<String, @Nullable String> meant) {
        String rate = text.strip();
        String[] parts = PER.split(rate, 2);
        String count = parts[0].strip();
        String period = parts.length == 2 ? parts[1].strip() : "";
        if (period.isEmpty()) {
            throw noPeriod(rate);
        }
        return new Rate(parsePermits(count, rate, meant), parsePeriod(period, rate, meant));
    }

    /**
     * Parses one or several rates, separated by semicolons: {@code "100/minute; 1000/hour"}.
     *
     * @param text such as {@code 100/minute; 1000/hour}, with a different period in each part
     * @return at least one rate, in the order written
     * @throws IllegalArgumentException if a part is not a rate, or two parts have the same period
     */
    public static List<Rate> parseAll(String text) {
        List<Rate> rates = new ArrayList<>();
        for (String part : text.split(";", -1)) {
            Rate rate = parse(part);
            if (rates.stream().anyMatch(other -> other.period.equals(rate.period))) {
                throw new IllegalArgumentException(
                        quote(text) + " has two rates per " + rate.periodText() + "; keep one of them");
            }
            rates.add(rate);
        }
        return List.copyOf(rates);
    }

    /** {@return whether the period is a calendar month, whose length depends on the date} */
    public boolean perMonth() {
        return period instanceof Period;
    }

    /** {@return the period in nanoseconds; for a month that of the longest, 31 days} */
    public long periodNanos() {
        return period instanceof Duration duration
                ? duration.toNanos()
                : Duration.ofDays(31).toNanos();
    }

    /** {@return a description for readers, such as {@code 600 per minute}} */
    public String describe() {
        return permits + " per " + periodText();
    }

    /** The notation that {@link #parse} reads: {@code 600/minute}. */
    @Override
    public String toString() {
        return permits + "/" + periodText();
    }

    private String periodText() {
        if (!(period instanceof Duration duration)) {
            return "month";
        }
        for (Map.Entry<String, Duration> unit : UNITS.entrySet()) {
            if (duration.equals(unit.getValue()) && unit.getKey().length() > 2) {
                return unit.getKey();
            }
        }
        return notation(duration);
    }

    /**
     * A duration as the configuration writes it.
     *
     * @param duration whole seconds or milliseconds; any other becomes an ISO duration
     * @return such as {@code 90s}, {@code 10m}, {@code 250ms}
     */
    public static String notation(Duration duration) {
        if (!duration.equals(Duration.ofSeconds(duration.toSeconds()))) {
            boolean wholeMillis = duration.equals(Duration.ofMillis(duration.toMillis()));
            return wholeMillis ? duration.toMillis() + "ms" : duration.toString();
        }
        long seconds = duration.toSeconds();
        if (seconds % 86_400 == 0) {
            return seconds / 86_400 + "d";
        }
        if (seconds % 3_600 == 0) {
            return seconds / 3_600 + "h";
        }
        return seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
    }

    private static long parsePermits(String count, String rate, Function<String, @Nullable String> meant) {
        if (count.isEmpty()) {
            throw new IllegalArgumentException(
                    quote(rate) + " has no number before '/'; write 10/second or 100/minute");
        }
        if (!isNumber(count)) {
            throw new IllegalArgumentException(quote(rate) + ": " + quote(count) + " is not a whole number of permits; "
                    + write(meant.apply(rate), "write digits only, as in 100/minute"));
        }
        try {
            long permits = Long.parseLong(count);
            if (permits == 0) {
                throw new IllegalArgumentException(quote(rate)
                        + " permits nothing; write at least 1 permit (to switch a policy off, set mode: off)");
            }
            return permits;
        } catch (NumberFormatException tooLarge) {
            throw new IllegalArgumentException(
                    quote(rate) + ": at most " + Long.MAX_VALUE + " permits can be written", tooLarge);
        }
    }

    private static TemporalAmount parsePeriod(String period, String rate, Function<String, @Nullable String> meant) {
        int digits = 0;
        while (digits < period.length() && isDigit(period.charAt(digits))) {
            digits++;
        }
        String written = period.substring(digits).strip();
        String word = WORDS.getOrDefault(written, written);
        if (word.equals("month") && digits == 0) {
            return MONTH;
        }
        Duration unit = UNITS.get(word);
        try {
            if (unit != null) {
                return digits == 0 ? unit : positive(unit.multipliedBy(Long.parseLong(period, 0, digits, 10)), rate);
            }
            if (period.startsWith("P")) {
                return positive(Duration.parse(period), rate);
            }
        } catch (ArithmeticException | DateTimeException | NumberFormatException e) {
            throw new IllegalArgumentException(
                    quote(rate) + ": cannot read the period " + quote(period) + "; " + PERIODS, e);
        }
        if (digits == period.length()) {
            throw new IllegalArgumentException(quote(rate) + ": the period " + quote(period) + " has no unit; write "
                    + quote(period + "s") + ", " + quote(period + "m") + " or " + quote(period + "h"));
        }
        throw new IllegalArgumentException(
                quote(rate) + ": unknown period " + quote(period) + "; " + write(meant.apply(rate), PERIODS));
    }

    /** What to write instead, if that can be guessed. */
    private static String write(@Nullable String meant, String otherwise) {
        return meant == null ? otherwise : "write " + meant;
    }

    private static Duration positive(Duration period, String rate) {
        if (period.isNegative() || period.isZero() || period.compareTo(MAX_PERIOD) > 0) {
            throw new IllegalArgumentException(quote(rate) + ": the period must be from 1 ns to 292 years");
        }
        return period;
    }

    private static IllegalArgumentException noPeriod(String rate) {
        if (rate.isEmpty()) {
            return new IllegalArgumentException("the limit is empty; write 10/second or 100/minute");
        }
        String count = PER.split(rate, 2)[0].strip();
        if (!isNumber(count)) {
            return new IllegalArgumentException(quote(rate) + " is not a limit; write 10/second, 10/minute or 10/hour");
        }
        return new IllegalArgumentException(
                quote(rate) + " has no period; write " + count + "/second, " + count + "/minute, " + count + "/hour");
    }

    private static boolean isNumber(String text) {
        return !text.isEmpty() && text.length() <= 40 && text.chars().allMatch(c -> isDigit((char) c));
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** The text in quotes, safe to print: at most 60 characters, control and non-ASCII characters escaped. */
    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("'");
        int shown = Math.min(text.length(), 60);
        for (int i = 0; i < shown; i++) {
            char c = text.charAt(i);
            quoted.append(c >= ' ' && c <= '~' ? String.valueOf(c) : String.format("\\u%04x", (int) c));
        }
        return quoted.append(shown < text.length() ? "..." : "").append('\'').toString();
    }

    /** The words for units as people write them, in any case, and ours. */
    private static Map<String, String> words() {
        Map<String, String> words = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        Map.of("second", "sec", "minute", "min", "hour", "hr", "day", "day", "month", "month")
                .forEach((word, abbreviation) -> {
                    words.put(word, word);
                    words.put(word + "s", word);
                    words.put(abbreviation, word);
                    words.put(abbreviation + "s", word);
                });
        return words;
    }

    private static Map<String, Duration> units() {
        Map<String, Duration> units = new LinkedHashMap<>();
        units.put("second", Duration.ofSeconds(1));
        units.put("minute", Duration.ofMinutes(1));
        units.put("hour", Duration.ofHours(1));
        units.put("day", Duration.ofDays(1));
        units.put("ms", Duration.ofMillis(1));
        units.put("s", Duration.ofSeconds(1));
        units.put("m", Duration.ofMinutes(1));
        units.put("h", Duration.ofHours(1));
        units.put("d", Duration.ofDays(1));
        return units;
    }
}
