package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.KeyOverride;
import java.time.Duration;
import java.time.Instant;
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
    static final Set<String> FIELDS = Set.of("key", "limit", "duration", "until", "reason", "version");

    /** Whose override it is. */
    String key() {
        return required("key");
    }

    /** What is replaced, as it was read; {@code null} for whatever is in force. */
    @Nullable
    String version() {
        return fields.apply("version");
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
        WrittenEnd end = new WrittenEnd(fields);
        Duration duration = end.duration();
        Instant until = end.until();
        String reason = fields.apply("reason");
        override = duration == null ? override : override.lasting(duration);
        override = until == null ? override : override.until(until);
        return reason == null ? override : override.because(reason);
    }
}
