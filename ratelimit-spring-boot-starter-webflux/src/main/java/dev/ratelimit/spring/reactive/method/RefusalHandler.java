package dev.ratelimit.spring.reactive.method;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.boot.endpoint.RefusalHandlers;
import dev.ratelimit.spring.reactive.filter.CorsHeaders;
import dev.ratelimit.spring.reactive.filter.Passage;
import dev.ratelimit.spring.reactive.request.EventLoop;
import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.reactive.request.ReactiveWebResponse;
import dev.ratelimit.spring.rules.decision.CallLimiter;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import java.io.IOException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.PriorityOrdered;
import org.springframework.web.reactive.DispatchExceptionHandler;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/**
 * Answers a request whose handler ends with {@link RateLimitExceededException} as if a filter had refused it, unless the
 * application has an {@code @ExceptionHandler} for that, which then writes the answer.
 */
public final class RefusalHandler implements WebExceptionHandler, PriorityOrdered {

    private final CallLimiter limiter;
    private final CorsHeaders cors;
    private final RefusalHandlers handlers;

    public RefusalHandler(CallLimiter limiter, CorsHeaders cors, RefusalHandlers handlers) {
        this.limiter = limiter;
        this.cors = cors;
        this.handlers = handlers;
    }

    /** Before those of applications, whatever their order: they would turn refusals into errors. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    /** Answers refusals that no handler of the application has answered. */
    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable thrown) {
        return unwrapped(thrown) instanceof RateLimitExceededException refusal
                        && !exchange.getResponse().isCommitted()
                ? answer(exchange, refusal)
                : Mono.error(thrown);
    }

    /** Answers refusals of a result before handlers of all exceptions, which would turn them into errors. */
    public HandlerResult first(HandlerResult result) {
        DispatchExceptionHandler next = result.getExceptionHandler();
        return result.setExceptionHandler((exchange, thrown) -> {
            if (!(unwrapped(thrown) instanceof RateLimitExceededException refusal)
                    || exchange.getResponse().isCommitted()) {
                return next == null ? Mono.error(thrown) : next.handleError(exchange, thrown);
            }
            if (next == null
                    || !(thrown instanceof Exception exception)
                    || !handlers.answer(result.getHandler(), exception)) {
                return answer(exchange, refusal).then(Mono.empty());
            }
            return cors.write(exchange).then(Mono.defer(() -> {
                limiter.prepareRefusal(refusal, chargedOf(exchange), new ReactiveWebResponse(exchange));
                return next.handleError(exchange, thrown);
            }));
        });
    }

    private Mono<Void> answer(ServerWebExchange exchange, RateLimitExceededException refusal) {
        return EventLoop.nextTurn(exchange).then(cors.write(exchange)).then(Mono.defer(() -> {
            ReactiveWebResponse response = new ReactiveWebResponse(exchange);
            try {
                limiter.writeRefusal(refusal, chargedOf(exchange), ReactiveWebRequest.of(exchange), response);
            } catch (IOException e) {
                return Mono.error(e);
            }
            return response.send();
        }));
    }

    private static @Nullable ChargedRequest chargedOf(ServerWebExchange exchange) {
        Passage passage = Passage.of(exchange);
        return passage == null ? null : passage.charged();
    }

    private static @Nullable Throwable unwrapped(Throwable thrown) {
        Throwable cause = thrown;
        while (cause instanceof CompletionException || cause instanceof ExecutionException) {
            cause = cause.getCause();
        }
        return cause;
    }
}
