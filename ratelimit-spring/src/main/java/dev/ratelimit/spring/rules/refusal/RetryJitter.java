package dev.ratelimit.spring.rules.refusal;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A random time added to Retry-After, uniform in [min, max), so that refused callers do not all come back at once.
 *
 * @param min zero or more
 * @param max {@code min} or more; if both are equal, the jitter is constant
 */
public record RetryJitter(Duration min, Duration max) {

    /** Up to a second. */
    public static final RetryJitter DEFAULT = new RetryJitter(Duration.ZERO, Duration.ofSeconds(1));

    /** Validates the order. */
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
        long minNanos = min.toNanos();
        long maxNanos = max.toNanos();
        long jitter =
                minNanos == maxNanos ? minNanos : ThreadLocalRandom.current().nextLong(minNanos, maxNanos);
        return waitNanos > Long.MAX_VALUE - jitter ? Long.MAX_VALUE : waitNanos + jitter;
    }
}
