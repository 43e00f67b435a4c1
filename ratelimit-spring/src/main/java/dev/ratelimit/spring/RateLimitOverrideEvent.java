package dev.ratelimit.spring;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An override of a single key by {@link RateLimitPolicies#override} begins, is removed or ends: an application event,
 * published on each instance on which the override is in force, after it is, or is no longer. Immutable.
 *
 * <p>Listeners run on the thread {@code ratelimit-events}, one after another; what they throw is logged. If more than 100
 * overrides of other instances arrive at once, as at the start, or end at once, none of them is an event.
 *
 * @param policy the name of the policy
 * @param key the plain value, if {@code management.endpoint.ratelimits.show-keys} is {@code always}; otherwise a hash
 *     such as {@code #5f3a09c1d27e}, the same as in the actuator endpoint
 * @param action what has become of the override
 * @param here whether that was asked for on this instance; {@code false} if on another one, or if the override has ended by
 *     itself
 * @param by who has asked for it; {@code null} if nobody has, or if that is not known
 * @param limit the limits of the override, such as {@code 50/minute}, {@code blocked} or {@code unlimited}
 * @param until its end; {@code null} if it has none
 * @param reason why it was set; {@code null} if nobody has said that
 */
public record RateLimitOverrideEvent(
        String policy,
        String key,
        Action action,
        boolean here,
        @Nullable String by,
        String limit,
        @Nullable Instant until,
        @Nullable String reason) {

    /** What becomes of an override. */
    public enum Action {
        /** It begins, perhaps in place of another one for the same key. */
        SET,
        /** It is removed before its end. */
        REMOVED,
        /** It has reached its end. */
        EXPIRED
    }
}
