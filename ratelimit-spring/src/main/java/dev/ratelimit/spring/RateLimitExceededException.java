package dev.ratelimit.spring;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by a method with {@link RateLimited} instead of running it, if a limit refuses the call. The method was not
 * called, and none of its limits was charged. If the exception leaves a controller, the client gets the same response
 * as if the request had been refused, unless an {@code @ExceptionHandler} that names this type answers. An application
 * may throw it for refusals of its own.
 *
 * <p>It has no stack trace: there may be many refusals, and the message names the limit. Only the message is
 * serialized.
 */
public class RateLimitExceededException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final transient Rejection rejection;

    /**
     * Creates an exception with the rejection's {@link Rejection#detail} as message.
     *
     * @param rejection why the call is refused; a controller's client gets its status and wait
     */
    public RateLimitExceededException(Rejection rejection) {
        super(rejection.detail(), null, true, false);
        this.rejection = rejection;
    }

    /** {@return why the call was refused} */
    public Rejection rejection() {
        return rejection;
    }

    /**
     * {@return the names of the policies that refused, longest wait first; empty if the store did not answer}
     * Unmodifiable.
     */
    public List<String> violatedPolicies() {
        return rejection.violatedPolicies();
    }

    /** {@return the wait until a call would be admitted, with jitter; {@code null} if no wait helps} */
    public @Nullable Duration retryAfter() {
        return rejection.retryAfter();
    }
}
