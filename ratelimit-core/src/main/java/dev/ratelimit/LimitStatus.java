package dev.ratelimit;

import java.time.Duration;

/**
 * How one limit stands for one key after a decision. Times are nanoseconds from the decision on.
 *
 * @param policy the policy that the limit belongs to
 * @param limit the limit in force
 * @param remaining permits that would still be admitted
 * @param retryAfterNanos the least time until the permits asked for would be admitted if nobody else came; 0 if this
 *     limit admitted them, {@link Limit#NEVER} if they exceed its capacity
 * @param nextAvailableNanos the least time until {@code remaining} grows; 0 when it is at its most
 * @param fullAfterNanos the least time until nothing is charged any more
 */
public record LimitStatus(
        Policy policy,
        Limit limit,
        long remaining,
        long retryAfterNanos,
        long nextAvailableNanos,
        long fullAfterNanos) {

    /** Whether this limit alone would have admitted the request. */
    public boolean admitted() {
        return retryAfterNanos == 0;
    }

    /** {@code nextAvailableNanos} as a duration. */
    public Duration nextAvailable() {
        return Duration.ofNanos(nextAvailableNanos);
    }

    /** {@code fullAfterNanos} as a duration. */
    public Duration fullAfter() {
        return Duration.ofNanos(fullAfterNanos);
    }
}
