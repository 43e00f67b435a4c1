package dev.ratelimit;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The status of one limit for one charge after a decision. Times are relative to the decision. Immutable. */
public final class LimitStatus {

    private final Charge charge;
    private final Limit limit;
    private final long remaining;
    private final long retryAfterNanos;
    private final long nextAvailableNanos;
    private final long fullAfterNanos;

    /**
     * Creates a status, for stores; {@link LimitState} creates it from a state.
     *
     * @param charge the charge
     * @param limit the limit in force
     * @param remaining the permits that would still be admitted
     * @param retryAfterNanos the minimum time until the charged permits would be admitted without other callers; 0 if
     *     this limit admitted them, {@link LimitAlgorithm#NEVER} if they exceed its capacity
     * @param nextAvailableNanos the minimum time until {@code remaining} grows; 0 if it is at its maximum
     * @param fullAfterNanos the minimum time until no permits are used any more
     */
    public LimitStatus(
            Charge charge,
            Limit limit,
            long remaining,
            long retryAfterNanos,
            long nextAvailableNanos,
            long fullAfterNanos) {
        this.charge = charge;
        this.limit = limit;
        this.remaining = remaining;
        this.retryAfterNanos = retryAfterNanos;
        this.nextAvailableNanos = nextAvailableNanos;
        this.fullAfterNanos = fullAfterNanos;
    }

    /** {@return the charge, which identifies the budget} */
    public Charge charge() {
        return charge;
    }

    /** {@return the policy of the charge} */
    public Policy policy() {
        return charge.policy();
    }

    /** {@return the limit in force} */
    public Limit limit() {
        return limit;
    }

    /** {@return the permits that would still be admitted; those before the charge if it was refused or a peek} */
    public long remaining() {
        return remaining;
    }

    /** {@return whether this limit alone would have admitted the charge} */
    public boolean admitted() {
        return retryAfterNanos == 0;
    }

    /**
     * {@return the minimum time in nanoseconds until the charged permits would be admitted without other callers} 0 if
     * this limit admitted them, {@link LimitAlgorithm#NEVER} if they exceed its capacity.
     */
    public long retryAfterNanos() {
        return retryAfterNanos;
    }

    /** {@return {@link #retryAfterNanos()} as a duration; {@code null} if no wait helps} */
    public @Nullable Duration retryAfter() {
        return retryAfterNanos == LimitAlgorithm.NEVER ? null : Duration.ofNanos(retryAfterNanos);
    }

    /** {@return the minimum time in nanoseconds until {@link #remaining} grows; 0 if it is at its maximum} */
    public long nextAvailableNanos() {
        return nextAvailableNanos;
    }

    /** {@return {@link #nextAvailableNanos()} as a duration} */
    public Duration nextAvailable() {
        return Duration.ofNanos(nextAvailableNanos);
    }

    /** {@return the minimum time in nanoseconds until no permits are used any more; 0 if none are} */
    public long fullAfterNanos() {
        return fullAfterNanos;
    }

    /** {@return {@link #fullAfterNanos()} as a duration} */
    public Duration fullAfter() {
        return Duration.ofNanos(fullAfterNanos);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LimitStatus status
                && remaining == status.remaining
                && retryAfterNanos == status.retryAfterNanos
                && nextAvailableNanos == status.nextAvailableNanos
                && fullAfterNanos == status.fullAfterNanos
                && limit.equals(status.limit)
                && charge.equals(status.charge);
    }

    @Override
    public int hashCode() {
        return 31 * charge.hashCode() + Long.hashCode(remaining);
    }

    /** For logs and failed tests; without the key, which may be a secret. */
    @Override
    public String toString() {
        return policy().name() + " (" + limit + "): " + remaining + " remaining"
                + (admitted() ? after("more", nextAvailableNanos) : after("retry", retryAfterNanos))
                + after("full", fullAfterNanos);
    }

    private static String after(String what, long nanos) {
        return nanos == 0
                ? ""
                : ", " + what + (nanos == LimitAlgorithm.NEVER ? " never" : " after " + Duration.ofNanos(nanos));
    }
}
