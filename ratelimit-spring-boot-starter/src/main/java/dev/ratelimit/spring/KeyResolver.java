package dev.ratelimit.spring;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Says whose budget a request is charged to; a bean of this type is named by {@code key: bean:NAME}. Called once a request
 * and policy, after Spring Security, by many threads at once.
 */
@FunctionalInterface
public interface KeyResolver {

    /**
     * Whose budget. What is thrown counts as {@code null}, and is logged once.
     *
     * @return any text; {@code null} or blanks where the request has none, which is what {@code missing-key} is for
     */
    @Nullable
    String resolve(HttpServletRequest request);
}
