package dev.ratelimit.spring;

import org.jspecify.annotations.Nullable;

/**
 * Resolves the plan of the owner of a request's key. A policy names a bean of this type with {@code plan-resolver}.
 * Called once per request and policy, after Spring Security, by many threads at once.
 */
@FunctionalInterface
public interface PlanResolver {

    /**
     * Returns the name of the plan. An exception counts as {@code null} and is logged, once a minute at most.
     *
     * @param request the request to charge; not to be kept after this call
     * @return a name under {@code plans}; {@code null} and any other name mean {@code plans.default}
     */
    @Nullable
    String resolve(WebRequest request);
}
