package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.rules.decision.CallLimiter;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import dev.ratelimit.spring.servlet.request.ServletWebResponse;
import dev.ratelimit.spring.servlet.settlement.Passage;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Answers requests whose servlet, or a filter behind the limits, throws {@link RateLimitExceededException}; what handlers of
 * Spring MVC throw is answered {@linkplain RefusalResolver there}.
 */
record ThrownRefusals(CallLimiter limiter, ServletPaths paths, CorsHeaders cors) {

    /**
     * Answers a request as if the filter had refused it.
     *
     * @return {@code false} if it is not refused, or cannot be answered any more
     */
    boolean answer(Exception thrown, HttpServletRequest request, HttpServletResponse response) throws IOException {
        RateLimitExceededException refusal = RefusalResolver.refusalIn(thrown);
        if (refusal == null || response.isCommitted() || request.isAsyncStarted()) {
            return false;
        }
        response.resetBuffer();
        cors.write(request, response);
        limiter.writeRefusal(
                refusal,
                Passage.chargedOf(request),
                new ServletWebRequest(request, paths),
                new ServletWebResponse(response));
        return true;
    }
}
