package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.RateLimitPolicies.KeyOverride;
import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The override of a key as it is written in the body of a request; a mistake is an {@link IllegalArgumentException}.
 *
 * @param fields their texts by name; {@code null} for those that are not written
 */
record WrittenOverride(Function<String, @Nullable String> fields) {

    /** The names of the fields. */
    static final Set<String> FIELDS = Set.of("key", "limit", "duration", "until", "reason");

    /** Whose override it is. */
    String key() {
        return required("key");
    }

    private String required(String field) {
        String text = fields.apply(field);
        if (text == null) {
            throw new IllegalArgumentException(
                    "an override needs a key and a limit; write key, and as limit 50/minute, blocked or unlimited");
        }
        return text;
    }

    /** The limits, until when, and why. */
    KeyOverride override() {
        KeyOverride override = KeyOverride.to(required("limit"));
        String duration = fields.apply("duration");
        String until = fields.apply("until");
        String reason = fields.apply("reason");
        if (duration != null && until != null) {
            throw new IllegalArgumentException("it has both a duration and until; write only one of the two");
        }
        override = duration == null ? override : override.lasting(WrittenChange.time("duration", duration));
        override = until == null ? override : override.until(momentOf(until));
        return reason == null ? override : override.because(reason);
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
}
