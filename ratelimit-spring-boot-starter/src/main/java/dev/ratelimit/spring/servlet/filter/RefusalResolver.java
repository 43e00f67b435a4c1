package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.boot.endpoint.RefusalHandlers;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers a request whose handler throws {@link RateLimitExceededException} as if the filter had refused it, unless the
 * application has an {@code @ExceptionHandler} for that, which then writes the answer.
 */
public final class RefusalResolver implements HandlerExceptionResolver, Ordered {

    private final ThrownRefusals refusals;
    private final RefusalHandlers handlers;

    public RefusalResolver(RateLimitFilters filters, RefusalHandlers handlers) {
        this.refusals = filters.thrownRefusals();
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
        RateLimitExceededException refusal = ThrownRefusals.refusalIn(thrown, response);
        if (refusal == null) {
            return null;
        }
        try {
            if (handlers.answer(handler, thrown)) {
                refusals.prepare(refusal, request, response);
                return null;
            }
            refusals.write(refusal, request, response);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new ModelAndView();
    }
}
