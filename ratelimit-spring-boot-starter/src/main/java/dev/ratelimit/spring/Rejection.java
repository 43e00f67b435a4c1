package dev.ratelimit.spring;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why a request was refused, and when it may come again. Nothing in it holds a key, an address, a user or a path.
 *
 * @param reason why
 * @param status the status of the response
 * @param violatedPolicies the names of the policies that refused, the longest wait first; empty where none could be asked
 * @param retryAfter the wait, with jitter; {@code null} when no wait helps
 * @param detail a sentence for people
 */
public record Rejection(
        Reason reason,
        int status,
        List<String> violatedPolicies,
        @Nullable Duration retryAfter,
        String detail) {

    /** Why requests are refused. */
    public enum Reason {
        /** A limit does not admit it. */
        EXCEEDED,
        /** The store does not answer, and nobody passes the policy then. */
        UNAVAILABLE
    }

    /** Copies the list. */
    public Rejection {
        violatedPolicies = List.copyOf(violatedPolicies);
    }
}
