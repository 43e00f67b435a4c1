package dev.ratelimit.client;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Dates as HTTP has them: the current form and both obsolete ones (RFC 9110, section 5.6.7). */
final class HttpDates {

    private static final int MAX_LENGTH = 40;

    private static final List<DateTimeFormatter> FORMS = List.of(
            DateTimeFormatter.ofPattern("EEE, d MMM yyyy HH:mm:ss 'GMT'", Locale.US),
            DateTimeFormatter.ofPattern("EEEE, dd-MMM-yy HH:mm:ss 'GMT'", Locale.US),
            DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss yyyy", Locale.US));

    private HttpDates() {}

    /** The time, {@code null} if the text is no date. */
    static @Nullable Instant parse(@Nullable String text) {
        if (text == null || text.length() > MAX_LENGTH) {
            return null;
        }
        for (DateTimeFormatter form : FORMS) {
            try {
                return form.withZone(ZoneOffset.UTC).parse(text.strip(), Instant::from);
            } catch (DateTimeException e) {
                // perhaps another form
            }
        }
        return null;
    }
}
