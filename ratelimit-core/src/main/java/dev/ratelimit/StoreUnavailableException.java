package dev.ratelimit;

import java.time.Duration;

/**
 * A policy could not be decided, because its store did not answer, and is not to be passed then. Nothing is charged that
 * could be given back. Has no stack trace: while a store is away there are many, and all from the same place.
 */
public final class StoreUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String policy;
    private final Duration retryAfter;

    /**
     * Of this policy.
     *
     * @param policy the name
     * @param retryAfter when it makes sense to ask again, more than zero
     * @param reason what happened to the store
     */
    public StoreUnavailableException(String policy, Duration retryAfter, String reason) {
        super("policy " + policy + " cannot be decided: " + reason, null, false, false);
        this.policy = policy;
        this.retryAfter = retryAfter;
    }

    /** The name of the policy that is not to be passed. */
    public String policy() {
        return policy;
    }

    /** When it makes sense to ask again. */
    public Duration retryAfter() {
        return retryAfter;
    }
}
