package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.rules.decision.CallLimiter;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import dev.ratelimit.spring.servlet.request.ServletWebResponse;
import dev.ratelimit.spring.servlet.settlement.Passage;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests whose handler or servlet, or a filter behind the limits, throws {@link RateLimitExceededException}, as if the
 * filter had refused them. What handlers of Spring MVC throw is answered {@linkplain RefusalResolver there}.
 */
record ThrownRefusals(CallLimiter limiter, ServletPaths paths, CorsHeaders cors) {

    /** Answers a request; returns {@code false} if it is not refused, or cannot be answered any more. */
    boolean answer(Exception thrown, HttpServletRequest request, HttpServletResponse response) throws IOException {
        RateLimitExceededException refusal = refusalIn(thrown, response);
        if (refusal == null || request.isAsyncStarted()) {
            return false;
        }
        write(refusal, request, response);
        return true;
    }

    /**
     * The refusal that was thrown; {@code null} if there is none, or only as the cause of an exception of the application, or if
     * the response is committed.
     */
    static @Nullable RateLimitExceededException refusalIn(Throwable thrown, HttpServletResponse response) {
        Throwable cause = thrown;
        while (cause instanceof CompletionException
                || cause instanceof ExecutionException
                || cause instanceof ServletException
                || cause instanceof UndeclaredThrowableException) {
            cause = cause.getCause();
        }
        return cause instanceof RateLimitExceededException refusal && !response.isCommitted() ? refusal : null;
    }

    void write(RateLimitExceededException refusal, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        begin(request, response);
        limiter.writeRefusal(
                refusal,
                Passage.chargedOf(request),
                new ServletWebRequest(request, paths),
                new ServletWebResponse(response));
    }

    /** Writes only the status and the limits; the application adds all other headers and the body. */
    void prepare(RateLimitExceededException refusal, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        begin(request, response);
        limiter.prepareRefusal(refusal, Passage.chargedOf(request), new ServletWebResponse(response));
    }

    private void begin(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.resetBuffer();
        cors.write(request, response);
    }
}
