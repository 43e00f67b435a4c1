package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

/**
 * How long a change or an override lasts, as it is written in the body of a request; a mistake is an
 * {@link IllegalArgumentException}.
 *
 * @param fields their texts by name; {@code null} for those that are not written
 */
record WrittenEnd(Function<String, @Nullable String> fields) {

    /** Its duration; {@code null} if it has none. */
    @Nullable
    Duration duration() {
        String duration = fields.apply("duration");
        if (duration != null && fields.apply("until") != null) {
            throw new IllegalArgumentException("it has both a duration and until; write only one of the two");
        }
        return duration == null ? null : time("duration", duration);
    }

    /** The moment when it ends; {@code null} if it has none. */
    @Nullable
    Instant until() {
        String until = fields.apply("until");
        return until == null ? null : momentOf(until);
    }

    private static Instant momentOf(String text) {
        try {
            return OffsetDateTime.parse(text.strip()).toInstant();
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException(
                    "until must be a moment with its zone, such as 2030-01-31T18:00:00Z, but was " + Quotation.of(text),
                    e);
        }
    }

    /** A time with a unit. */
    static Duration time(String field, String text) {
        try {
            if (!text.strip().matches("[+-]?\\d+")) {
                return DurationStyle.detectAndParse(text.strip());
            }
        } catch (IllegalArgumentException | ArithmeticException e) {
            // refused below
        }
        throw new IllegalArgumentException(
                field + " must be a time with a unit, such as 2h, 30m or PT90S, but was " + Quotation.of(text));
    }
}
