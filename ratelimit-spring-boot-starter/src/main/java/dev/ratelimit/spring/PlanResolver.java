package dev.ratelimit.spring;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Says on which plan the owner of a request's key is; a bean of this type is named by {@code plan-resolver}. Called once a
 * request and policy, after Spring Security, by many threads at once.
 */
@FunctionalInterface
public interface PlanResolver {

    /**
     * The plan. What is thrown counts as {@code null}, and is logged once.
     *
     * @return a name under {@code plans}; any other, or {@code null}, is {@code plans.default}
     */
    @Nullable
    String resolve(HttpServletRequest request);
}
