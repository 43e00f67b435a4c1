package dev.ratelimit;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds what was probably meant by a text that is almost a rate, in the notation of {@link Rate#parse}. */
final class MisspeltRate {

    /** Longer texts are no rates that somebody has misspelt. */
    private static final int MAX_LENGTH = 60;

    private static final Pattern PARTS = Pattern.compile("(.*?)([kKmM]?)(?:\\s*/\\s*|\\s+per\\s+)(.*)");
    private static final Pattern GROUPED = Pattern.compile("[0-9]{1,3}(?:[,_' ][0-9]{3})+");
    private static final Pattern DECIMAL = Pattern.compile("[0-9]{1,9}[.,](?:[0-9]{1,2}|[0-9]{4,9})");
    private static final Pattern MULTIPLE = Pattern.compile("([0-9]{0,9})\\s*([A-Za-z]+)");
    private static final Pattern SUM = Pattern.compile("(?:[0-9]+[dhms]){2,}");
    private static final Pattern AND = Pattern.compile("\\s*(?:[,&+|]|\\band\\b)\\s*");

    private static final Map<String, Integer> DAYS = Map.of(
            "w", 7, "wk", 7, "week", 7, "weeks", 7, "wks", 7, "y", 365, "yr", 365, "year", 365, "years", 365, "yrs",
            365);

    private MisspeltRate() {}

    /** The rates that were probably meant, or {@code null}. */
    static @Nullable String meant(String text) {
        if (text.length() > MAX_LENGTH) {
            return null;
        }
        try {
            return text.indexOf('/') == text.lastIndexOf('/') ? one(text) : several(text);
        } catch (IllegalArgumentException | ArithmeticException e) {
            return null;
        }
    }

    private static @Nullable String several(String text) {
        String separated = AND.matcher(text).replaceAll("; ");
        return separated.equals(text)
                ? null
                : Stream.of(separated.split("; "))
                        .map(MisspeltRate::read)
                        .map(Rate::toString)
                        .collect(Collectors.joining("; "));
    }

    private static @Nullable String one(String text) {
        Matcher parts = PARTS.matcher(text.strip());
        if (!parts.matches()) {
            return null;
        }
        BigDecimal permits = permits(parts.group(1).strip());
        if (permits == null) {
            return null;
        }
        permits = permits.multiply(factor(parts.group(2).toLowerCase(Locale.ROOT)));
        return rate(permits, period(parts.group(3).strip()));
    }

    private static Rate read(String text) {
        return Rate.parse(text, misspelt -> null);
    }

    private static BigDecimal factor(String letter) {
        return BigDecimal.valueOf(letter.isEmpty() ? 1 : letter.equals("k") ? 1_000 : 1_000_000);
    }

    private static @Nullable BigDecimal permits(String written) {
        if (GROUPED.matcher(written).matches()) {
            return new BigDecimal(written.replaceAll("[^0-9]", ""));
        }
        return written.matches("[0-9]{1,18}") || DECIMAL.matcher(written).matches()
                ? new BigDecimal(written.replace(',', '.'))
                : null;
    }

    private static String period(String written) {
        Matcher multiple = MULTIPLE.matcher(written);
        Integer days = multiple.matches() ? DAYS.get(multiple.group(2).toLowerCase(Locale.ROOT)) : null;
        if (days != null) {
            String times = multiple.group(1);
            return (times.isEmpty() ? days : Math.multiplyExact(Long.parseLong(times), (long) days)) + "d";
        }
        if (SUM.matcher(written).matches()) {
            String upper = written.toUpperCase(Locale.ROOT);
            int day = upper.indexOf('D') + 1;
            return "P" + upper.substring(0, day) + "T" + upper.substring(day);
        }
        return written.matches("(?:mon?|mth)s?") ? "month" : written;
    }

    /** Half a permit per second is one in two seconds. */
    private static @Nullable String rate(BigDecimal permits, String period) {
        Rate whole = read("1/" + period);
        BigInteger places = BigInteger.TEN.pow(Math.max(0, permits.scale()));
        BigInteger count = permits.multiply(new BigDecimal(places)).toBigIntegerExact();
        BigInteger shared = count.gcd(places);
        long number = count.divide(shared).longValueExact();
        long periods = places.divide(shared).longValueExact();
        if (periods == 1) {
            return new Rate(number, whole.period()).toString();
        }
        return whole.period() instanceof Duration duration
                ? Rate.of(number, duration.multipliedBy(periods)).toString()
                : null;
    }
}
