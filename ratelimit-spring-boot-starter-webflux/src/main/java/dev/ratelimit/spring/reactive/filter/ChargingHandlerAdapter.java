package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.reactive.request.CurrentExchange;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.reactive.DispatchExceptionHandler;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Charges the requests whose handler had to be awaited, before it is called by the adapter that supports it, or when there
 * is none. Comes before all adapters of Spring and of the application. Thread-safe.
 */
public final class ChargingHandlerAdapter implements HandlerAdapter, DispatchExceptionHandler, Ordered {

    private final Supplier<List<HandlerAdapter>> all;

    /** The other adapters; found several times if several requests are the first, rather than wait for each other. */
    private volatile @Nullable List<HandlerAdapter> others;

    private final UnaryOperator<HandlerResult> results;

    /**
     * Creates the adapter.
     *
     * @param all in their order, with this one; obtained at the first request
     * @param results what becomes of the results of handlers
     */
    public ChargingHandlerAdapter(Supplier<List<HandlerAdapter>> all, UnaryOperator<HandlerResult> results) {
        this.results = results;
        this.all = all;
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public boolean supports(Object handler) {
        return adapterOf(handler) != null;
    }

    private @Nullable HandlerAdapter adapterOf(Object handler) {
        List<HandlerAdapter> adapters = others;
        if (adapters == null) {
            adapters = all.get().stream().filter(adapter -> adapter != this).toList();
            others = adapters;
        }
        for (HandlerAdapter adapter : adapters) {
            if (adapter.supports(handler)) {
                return adapter;
            }
        }
        return null;
    }

    @Override
    public Mono<HandlerResult> handle(ServerWebExchange exchange, Object handler) {
        HandlerAdapter adapter = adapterOf(handler);
        if (adapter == null) {
            return Mono.error(new IllegalStateException("no HandlerAdapter for " + handler));
        }
        Passage passage = Passage.of(exchange);
        if (passage != null) {
            if (passage.isRefusalSent()) {
                // a filter hands it on again
                return Mono.empty();
            }
            passage.expectCall(handler);
        }
        AwaitedHandler awaited = AwaitedHandler.of(exchange);
        Mono<HandlerResult> result = awaited == null
                ? handle(adapter, exchange, handler)
                : awaited.found(exchange, handler, charged -> handle(adapter, charged, handler));
        return result.map(results);
    }

    private static Mono<HandlerResult> handle(HandlerAdapter adapter, ServerWebExchange exchange, Object handler) {
        CurrentExchange.handle(exchange);
        return adapter.handle(exchange, handler);
    }

    /** There is no handler: the error is answered by others, unless the request is refused. */
    @Override
    public Mono<HandlerResult> handleError(ServerWebExchange exchange, Throwable failure) {
        AwaitedHandler awaited = AwaitedHandler.of(exchange);
        return awaited == null ? Mono.error(failure) : awaited.missed(exchange, failure);
    }
}
