package dev.ratelimit.spring;

import org.jspecify.annotations.Nullable;

/**
 * A policy is no longer what it was: an application event, published after the change is in force. Immutable.
 *
 * <p>Listeners run on the thread {@code ratelimit-events}, one after another; what they throw is logged.
 *
 * @param policy the name of the policy
 * @param cause who has changed it
 * @param by the name of whoever asked for it, if {@code cause} is {@link Cause#OPERATOR}; {@code null} for the application
 *     itself
 * @param from what the policy was, such as {@code 100/minute (token-bucket), mode enforce}; for people
 * @param to what the policy is
 */
public record RateLimitChangedEvent(
        String policy, Cause cause, @Nullable String by, String from, String to) {

    /** Who has changed a policy. */
    public enum Cause {
        /** An operator of this instance, or the application, by {@link RateLimitPolicies}. */
        OPERATOR,
        /** Another instance, which shares its changes by the store on Redis. */
        OTHER_INSTANCE,
        /** The change has reached its end, so the policy is as configured again. */
        EXPIRY,
        /** A refresh of the configuration. A policy that is not configured is {@code absent}. */
        CONFIGURATION
    }
}
