package dev.ratelimit.spring;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A random time added to Retry-After, uniform in [min, max), so that refused callers do not all come back at once.
 *
 * @param min zero or more
 * @param max {@code min} or more; where both are the same, so is the jitter
 */
public record RetryJitter(Duration min, Duration max) {

    /** Up to a second. */
    public static final RetryJitter DEFAULT = new RetryJitter(Duration.ZERO, Duration.ofSeconds(1));

    /** Checks the order. */
    public RetryJitter {
        if (min.isNegative()) {
            throw new IllegalArgumentException("min must not be negative but was " + min);
        }
        if (max.compareTo(min) < 0 || max.compareTo(Duration.ofDays(365)) > 0) {
            throw new IllegalArgumentException("max must be from min (" + min + ") to 365 days but was " + max);
        }
    }

    /** The wait with jitter, in nanoseconds, at most {@link Long#MAX_VALUE}. */
    public long addTo(long waitNanos) {
        long least = min.toNanos();
        long most = max.toNanos();
        long jitter = least == most ? least : ThreadLocalRandom.current().nextLong(least, most);
        return waitNanos > Long.MAX_VALUE - jitter ? Long.MAX_VALUE : waitNanos + jitter;
    }
}
