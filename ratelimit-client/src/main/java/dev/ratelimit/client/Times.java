package dev.ratelimit.client;

import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Times in fields of responses, as servers write them: delays and dates. */
final class Times {

    private static final int MAX_LENGTH = 40;
    private static final long FIRST_EPOCH_SECOND = 1_000_000_000L;
    private static final long FIRST_EPOCH_MILLI = 1_000_000_000_000L;

    /**
     * As HTTP has them, the current form and both obsolete ones (RFC 9110, section 5.6.7), the first also with the zones
     * that Go and mails write; as JavaScript shows them; and RFC 3339. UTC without a zone.
     */
    private static final List<DateTimeFormatter> DATES = List.of(
            DateTimeFormatter.ofPattern("EEE, d MMM yyyy HH:mm:ss ['GMT']['UTC'][xx]", Locale.US),
            DateTimeFormatter.ofPattern("EEEE, dd-MMM-yy HH:mm:ss 'GMT'", Locale.US),
            DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss yyyy", Locale.US),
            DateTimeFormatter.ofPattern("EEE MMM d yyyy HH:mm:ss 'GMT'xx", Locale.US),
            new DateTimeFormatterBuilder()
                    .parseCaseInsensitive()
                    .append(DateTimeFormatter.ISO_LOCAL_DATE)
                    .appendPattern("['T'][' ']")
                    .append(DateTimeFormatter.ISO_LOCAL_TIME)
                    .appendPattern("[XXX][XX][' UTC']")
                    .toFormatter(Locale.US));

    /** What Go writes below one second; its micro sign reaches us in one or two characters. */
    private static final Pattern BELOW_SECONDS = Pattern.compile("([\\d.]+)(m|u|n|\\P{ASCII}{1,2})s");

    private Times() {}

    /**
     * The seconds from then on, rounded up, 0 if they are over; {@link Numbers#UNREADABLE} if the text is no time. A
     * number is a delay below 1,000,000,000, from there on a time in seconds since the epoch, and from 1,000,000,000,000
     * on in milliseconds.
     */
    static long wait(String text, Instant from) {
        long number = Numbers.of(text, 0, RoundingMode.CEILING);
        if (number >= FIRST_EPOCH_MILLI) {
            return between(from, Instant.ofEpochMilli(number));
        }
        if (number >= FIRST_EPOCH_SECOND) {
            return between(from, Instant.ofEpochSecond(number));
        }
        long delay = number == Numbers.UNREADABLE ? delay(text) : number;
        Instant at = delay == Numbers.UNREADABLE ? date(text) : null;
        return at == null ? delay : between(from, at);
    }

    /** Such as {@code 1m30s} or {@code 20ms} of Go, or {@code PT90S} of ISO 8601. */
    private static long delay(String text) {
        Matcher small = BELOW_SECONDS.matcher(text);
        if (small.matches()) {
            return Numbers.of(small.group(1), small.group(2).equals("m") ? 3 : 6, RoundingMode.CEILING);
        }
        if (text.length() > MAX_LENGTH) {
            return Numbers.UNREADABLE;
        }
        try {
            Duration delay = Duration.parse(text.startsWith("P") ? text : "PT" + text);
            return delay.isNegative() ? Numbers.UNREADABLE : seconds(delay);
        } catch (DateTimeException e) {
            return Numbers.UNREADABLE;
        }
    }

    /** The date, {@code null} if the text is none. */
    static @Nullable Instant date(@Nullable String text) {
        if (text == null) {
            return null;
        }
        int name = text.indexOf('('); // of the zone, as JavaScript shows it
        String date = (name < 0 ? text : text.substring(0, name)).strip();
        if (date.length() > MAX_LENGTH) {
            return null;
        }
        for (DateTimeFormatter form : DATES) {
            try {
                return form.withZone(ZoneOffset.UTC).parse(date, Instant::from);
            } catch (DateTimeException e) {
                // perhaps another form
            }
        }
        return null;
    }

    private static long between(Instant from, Instant to) {
        return Math.max(0, seconds(Duration.between(from, to)));
    }

    /** Rounded up. */
    private static long seconds(Duration duration) {
        return Math.min(Numbers.MAX - 1, duration.getSeconds()) + (duration.getNano() > 0 ? 1 : 0);
    }
}
