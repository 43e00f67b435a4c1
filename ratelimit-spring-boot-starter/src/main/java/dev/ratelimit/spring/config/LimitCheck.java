package dev.ratelimit.spring.config;

import dev.ratelimit.Limit;

/** Whether the store can keep a limit; every limit that is configured passes it. */
@FunctionalInterface
public interface LimitCheck {

    /**
     * Throws if it cannot.
     *
     * @throws IllegalArgumentException with the reason
     */
    void check(Limit limit);
}
