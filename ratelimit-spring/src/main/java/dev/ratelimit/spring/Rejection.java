package dev.ratelimit.spring;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why a request was refused and when the caller may retry. It contains no key, address, user or path.
 *
 * @param reason what kind of refusal it is
 * @param status the HTTP status of the response
 * @param violatedPolicies the names of the policies that refused the request, longest wait first; empty if the store
 *     did not answer
 * @param retryAfter the wait in nanosecond precision, with jitter; {@code null} if no wait helps
 * @param detail a sentence for a human reader
 */
public record Rejection(
        Reason reason,
        int status,
        List<String> violatedPolicies,
        @Nullable Duration retryAfter,
        String detail) {

    /** The reasons for a refusal. */
    public enum Reason {
        /** A limit does not admit the request. */
        EXCEEDED,
        /** The request lacks a part of the key, and the policy refuses such requests. */
        MISSING_KEY,
        /** The store does not answer, and the policy then refuses all requests. */
        UNAVAILABLE
    }

    /**
     * Copies the list.
     *
     * @param reason what kind of refusal it is
     * @param status the HTTP status of the response
     * @param violatedPolicies the names of the policies that refused the request, longest wait first
     * @param retryAfter the wait; {@code null} if no wait helps
     * @param detail a sentence for a human reader
     */
    public Rejection {
        violatedPolicies = List.copyOf(violatedPolicies);
    }

    /**
     * {@return the wait in whole seconds, rounded up, at least 1, as in {@code Retry-After}; {@code null} if no wait
     * helps}
     */
    public @Nullable Long retryAfterSeconds() {
        return retryAfter == null ? null : Math.max(1, -Math.floorDiv(-retryAfter.toNanos(), 1_000_000_000L));
    }
}
