package dev.ratelimit.spring.rules.history;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Checks when a change is to end.
 *
 * @param now the present
 * @param ifPast what to do instead if the end is in the past
 * @param ifFar what to do instead if the end is too far away
 */
public record ChangeEnd(Instant now, String ifPast, String ifFar) {

    private static final Duration MAX = Duration.ofDays(366);

    /**
     * When the change ends, in microseconds since the epoch, rounded up; {@link ChangeNote#NEVER} without an end.
     *
     * @throws IllegalArgumentException if the end is in the past or more than 366 days away
     */
    public long micros(@Nullable Duration duration, @Nullable Instant until) {
        if (until != null) {
            check(
                    now.isBefore(until),
                    until.isAfter(now.plus(MAX)),
                    "until must be after now, " + now + ", and at most 366 days later, but was " + until);
            return roundedUp(until);
        }
        if (duration != null) {
            check(
                    duration.compareTo(Duration.ZERO) > 0,
                    duration.compareTo(MAX) > 0,
                    "duration must be longer than 0 and at most 366 days but was " + duration);
            return roundedUp(now.plus(duration));
        }
        return ChangeNote.NEVER;
    }

    private void check(boolean future, boolean far, String message) {
        if (!future || far) {
            throw new IllegalArgumentException(message + "; " + (far ? ifFar : ifPast));
        }
    }

    private static long roundedUp(Instant time) {
        return ChangeNote.micros(time.plusNanos(999));
    }
}
