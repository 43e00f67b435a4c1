package dev.ratelimit.spring;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A policy has refused a request or a call, or would have without shadow mode: an application event, with
 * {@code ratelimit.events.refusals: true}. Of each policy, at most {@code ratelimit.events.max-per-second} are published;
 * each tells how many were left out before it. Immutable.
 *
 * <p>A refusal because the store does not answer is none: see {@link RateLimitStoreEvent}. Listeners run on the thread
 * {@code ratelimit-events}, one after another, after the request was refused; what they throw is logged.
 *
 * @param policy the name of the policy; a request that several policies refuse is an event for each of them
 * @param mode {@link Mode#ENFORCE}, or {@link Mode#SHADOW} if the request was admitted nevertheless
 * @param key whose budget is exhausted: one plain value for each part of the policy's key, as
 *     {@link RateLimitPolicies#reset} takes them, if {@code management.endpoint.ratelimits.show-keys} is {@code always};
 *     otherwise one hash such as {@code #5f3a09c1d27e}, the same as in the actuator endpoint. Empty if all callers share
 *     one budget, or if the request lacks a required part.
 * @param endpoint such as {@code GET /orders/{id}}, or the called method; {@code null} if no policy had to look it up
 * @param at when it was refused
 * @param leftOut how many refusals by this policy were not published since the last event, 0 or more
 */
public record RateLimitRefusedEvent(
        String policy,
        Mode mode,
        List<String> key,
        @Nullable String endpoint,
        Instant at,
        long leftOut) {

    /**
     * Copies the key.
     *
     * @param policy the name of the policy
     * @param mode whether the request was refused, or admitted in shadow mode
     * @param key plain values, a hash, or nothing
     * @param endpoint such as {@code GET /orders/{id}}; {@code null} if it is unknown
     * @param at when it was refused
     * @param leftOut how many refusals were not published since the last event
     */
    public RateLimitRefusedEvent {
        key = List.copyOf(key);
    }
}
