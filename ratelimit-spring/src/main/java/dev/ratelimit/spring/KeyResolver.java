package dev.ratelimit.spring;

import org.jspecify.annotations.Nullable;

/**
 * Resolves whose budget a request is charged to. A policy names a bean of this type with {@code key: bean:NAME}. Called
 * once per request and policy, after Spring Security, by many threads at once.
 */
@FunctionalInterface
public interface KeyResolver {

    /**
     * Returns the owner of the budget. An exception counts as {@code null} and is logged, once a minute at most.
     *
     * @param request the request to charge; not to be kept after this call
     * @return any text; {@code null} or blank if the request has no owner, which {@code missing-key} then decides on
     */
    @Nullable
    String resolve(WebRequest request);
}
