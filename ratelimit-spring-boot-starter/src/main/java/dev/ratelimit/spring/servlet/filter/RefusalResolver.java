package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.boot.endpoint.RefusalHandlers;
import dev.ratelimit.spring.rules.decision.CallLimiter;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import dev.ratelimit.spring.servlet.request.ServletWebResponse;
import dev.ratelimit.spring.servlet.settlement.Passage;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers a request whose handler throws {@link RateLimitExceededException} as if the filter had refused it, unless the
 * application has an {@code @ExceptionHandler} for that, which then writes the answer.
 */
public final class RefusalResolver implements HandlerExceptionResolver, Ordered {

    private final CallLimiter limiter;
    private final ServletPaths paths;
    private final CorsHeaders cors;
    private final RefusalHandlers handlers;

    public RefusalResolver(CallLimiter limiter, ServletPaths paths, CorsHeaders cors, RefusalHandlers handlers) {
        this.limiter = limiter;
        this.paths = paths;
        this.cors = cors;
        this.handlers = handlers;
    }

    /** Before Spring's own: a handler of all exceptions would otherwise turn refusals into errors. */
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception thrown) {
        RateLimitExceededException refusal = refusalIn(thrown);
        if (refusal == null || response.isCommitted()) {
            return null;
        }
        try {
            response.resetBuffer();
            cors.write(request, response);
            ChargedRequest charged = Passage.chargedOf(request);
            ServletWebResponse to = new ServletWebResponse(response);
            if (handlers.answer(handler, thrown)) {
                limiter.prepareRefusal(refusal, charged, to);
                return null;
            }
            limiter.writeRefusal(refusal, charged, new ServletWebRequest(request, paths), to);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new ModelAndView();
    }

    /** The refusal that was thrown; {@code null} if there is none, or only as the cause of an exception of the application. */
    static @Nullable RateLimitExceededException refusalIn(Throwable thrown) {
        Throwable cause = thrown;
        while (cause instanceof CompletionException
                || cause instanceof ExecutionException
                || cause instanceof ServletException
                || cause instanceof UndeclaredThrowableException) {
            cause = cause.getCause();
        }
        return cause instanceof RateLimitExceededException refusal ? refusal : null;
    }
}
