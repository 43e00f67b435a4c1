package dev.ratelimit.simulator.suggest;

import org.jspecify.annotations.Nullable;

/**
 * A token bucket for one policy.
 *
 * @param policy its name
 * @param limit such as {@code 60/minute}
 * @param burst {@code null} for the permits of one period
 * @param reason why this limit
 */
public record Suggestion(
        String policy, String limit, @Nullable Long burst, String reason) {}
