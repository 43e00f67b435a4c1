package dev.ratelimit.spring.reactive;

import org.springframework.web.reactive.function.server.HandlerFilterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;

/**
 * Limits functional routes, which can have no annotations. A bean, for methods that create a {@code RouterFunction}:
 * {@code route().GET("/reports", handler).filter(limits.of("reports")).build()}. Thread-safe.
 */
public interface RouteLimits {

    /**
     * Returns a filter of the routes that these policies limit, whatever their paths and methods; write
     * {@code match.annotated: true} for a policy that limits nothing else.
     *
     * @param policies the names of policies under {@code ratelimit.policies}
     * @throws dev.ratelimit.spring.RateLimitConfigurationException if there is no such policy
     */
    HandlerFilterFunction<ServerResponse, ServerResponse> of(String... policies);
}
