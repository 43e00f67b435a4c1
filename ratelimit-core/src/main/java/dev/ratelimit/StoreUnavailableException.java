package dev.ratelimit;

import java.time.Duration;

/**
 * Thrown if the store did not answer and the policy fails closed ({@link OnStoreFailure#DENY}). Nothing is charged that
 * could be refunded. Has no stack trace: during an outage there are many, all from the same place.
 */
public final class StoreUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The name of the policy that could not be checked. */
    private final String policy;

    /** When to retry, positive. */
    private final Duration retryAfter;

    /**
     * Creates an exception for this policy.
     *
     * @param policy the name
     * @param retryAfter when to retry, positive
     * @param reason the failure of the store
     */
    public StoreUnavailableException(String policy, Duration retryAfter, String reason) {
        super("policy " + policy + " could not be checked: " + reason, null, false, false);
        this.policy = policy;
        this.retryAfter = retryAfter;
    }

    /** {@return the name of the policy that could not be checked} */
    public String policy() {
        return policy;
    }

    /** {@return when to retry, positive} */
    public Duration retryAfter() {
        return retryAfter;
    }
}
