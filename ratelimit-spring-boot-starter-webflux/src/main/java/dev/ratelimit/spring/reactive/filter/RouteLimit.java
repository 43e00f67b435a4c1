package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import java.util.function.Function;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Charges the policies that a route names, after the filters. A request is charged to each of them once. Thread-safe. */
public final class RouteLimit {

    private final RateLimitStage stage;

    RouteLimit(RateLimitStage stage) {
        this.stage = stage;
    }

    /** Charges a request; if it is admitted, the rest follows, otherwise it is answered. */
    public <T> Mono<T> charge(ReactiveWebRequest request, Function<ServerWebExchange, Mono<T>> rest) {
        Passage passage = Passage.of(request.exchange());
        if (passage == null) {
            Passage.requireLeftOut(request.exchange());
            return rest.apply(request.exchange());
        }
        // a circuit breaker goes on with its fallback
        passage.goOnIfGivenUp();
        // a filter of the route may try again what has been refused
        return passage.isRefused() ? Mono.empty() : stage.charge(passage, request, rest);
    }
}
