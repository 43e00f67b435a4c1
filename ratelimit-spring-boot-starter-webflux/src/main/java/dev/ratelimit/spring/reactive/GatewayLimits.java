package dev.ratelimit.spring.reactive;

import org.springframework.cloud.gateway.filter.GatewayFilter;

/**
 * Limits routes of Spring Cloud Gateway that are written in Java, as the filter {@code RateLimit} limits those of the
 * configuration. A bean, for methods that create a {@code RouteLocator}: {@code filters.filter(limits.of("orders"))}.
 * Thread-safe.
 */
public interface GatewayLimits {

    /**
     * Returns a filter of a route that these policies limit, whatever its path and method; write {@code match.annotated:
     * true} for a policy that limits nothing else. A request is charged to all of them or to none, and to a policy once,
     * even if several filters of the route name it.
     *
     * @param policies the names of policies under {@code ratelimit.policies}
     * @throws dev.ratelimit.spring.RateLimitConfigurationException if there is no such policy
     */
    GatewayFilter of(String... policies);
}
