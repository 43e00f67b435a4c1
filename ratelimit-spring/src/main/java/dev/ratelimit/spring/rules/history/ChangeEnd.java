package dev.ratelimit.spring.rules.history;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * When a change is to end.
 *
 * @param duration how long it lasts once it is accepted; {@code null} if it has a fixed end or none
 * @param until its fixed end
 */
public record ChangeEnd(
        @Nullable Duration duration, @Nullable Instant until) {

    private static final Duration MAX = Duration.ofDays(366);

    /**
     * Checks that the end is possible.
     *
     * @param now the present
     * @param ifPast what to do instead if it is in the past
     * @param ifFar what to do instead if it is too far away
     * @throws IllegalArgumentException if it is in the past or more than 366 days away
     */
    public ChangeEnd check(Instant now, String ifPast, String ifFar) {
        if (until != null) {
            boolean far = until.isAfter(now.plus(MAX));
            check(
                    now.isBefore(until) && !far,
                    "until must be after now, " + now + ", and at most 366 days later, but was " + until,
                    far ? ifFar : ifPast);
        } else if (duration != null) {
            boolean far = duration.compareTo(MAX) > 0;
            check(
                    duration.compareTo(Duration.ZERO) > 0 && !far,
                    "duration must be longer than 0 and at most 366 days but was " + duration,
                    far ? ifFar : ifPast);
        }
        return this;
    }

    private static void check(boolean possible, String message, String instead) {
        if (!possible) {
            throw new IllegalArgumentException(message + "; " + instead);
        }
    }

    /** The duration in microseconds, rounded up; 0 if there is none. */
    long lastingMicros() {
        return duration == null || until != null ? 0 : roundedUp(Instant.EPOCH.plus(duration));
    }

    /** As a part of a text that is not accepted yet; {@code null} without an end. */
    @Nullable
    Object json() {
        if (until != null) {
            return roundedUp(until);
        }
        return duration == null ? null : ChangeStore.END;
    }

    private static long roundedUp(Instant time) {
        return ChangedValue.micros(time.plusNanos(999));
    }
}
