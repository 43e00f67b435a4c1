package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.rules.decision.RequestLimiter;

/** Creates the filters of the stages, which differ only in their rules. */
public final class RateLimitFilters {

    private final RequestLimiter limiter;

    public RateLimitFilters(RequestLimiter limiter) {
        this.limiter = limiter;
    }

    public RateLimitWebFilter ofAllRules(int order) {
        return new RateLimitWebFilter(order, limiter);
    }

    public RateLimitWebFilter beforeSecurity(int order) {
        return new RateLimitWebFilter(order, limiter.beforeSecurity());
    }

    public RateLimitWebFilter afterSecurity(int order) {
        return new RateLimitWebFilter(order, limiter.afterSecurity());
    }
}
