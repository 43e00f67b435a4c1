package dev.ratelimit.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A call was not sent, because no permit would have come in time, or because the server has asked to wait for longer than
 * callers wait. Nothing was charged, and the server knows nothing of it: to try again later is safe for any method.
 */
public class CallNotSentException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** The name of the policy that refuses. */
    private final String policy;

    /** How long to wait, {@code null} if that is not known. */
    private final @Nullable Duration retryAfter;

    CallNotSentException(String message, String policy, @Nullable Duration retryAfter) {
        super(message);
        this.policy = policy;
        this.retryAfter = retryAfter;
    }

    /** {@return the name of the policy that refuses; {@link ClientLimits#SERVER} if it is the server's own limit} */
    public String policy() {
        return policy;
    }

    /**
     * {@return how long to wait before the call would be sent, if nobody else calls; {@code null} if no wait helps or the
     * time is not known}
     */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }
}
