package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.rules.request.Endpoint;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * A request whose endpoint only WebFlux can tell. It is charged when its handler has been found, or when none has been
 * found, before anything answers; if another filter answers it, afterwards. Once in any case.
 */
final class AwaitedHandler {

    private static final String ATTRIBUTE = AwaitedHandler.class.getName();

    private final RateLimitStage stage;
    private final Passage passage;
    private final ReactiveWebRequest request;

    private AwaitedHandler(RateLimitStage stage, Passage passage, ReactiveWebRequest request) {
        this.stage = stage;
        this.passage = passage;
        this.request = request;
    }

    static Mono<Void> await(RateLimitStage stage, Passage passage, ReactiveWebRequest request, WebFilterChain chain) {
        ServerWebExchange exchange = request.exchange();
        exchange.getAttributes().put(ATTRIBUTE, new AwaitedHandler(stage, passage, request));
        return chain.filter(exchange)
                .onErrorResume(failure -> {
                    AwaitedHandler awaited = take(exchange);
                    return awaited == null ? Mono.error(failure) : awaited.missed(exchange, failure);
                })
                .then(Mono.defer(() -> {
                    AwaitedHandler awaited = take(exchange);
                    return awaited == null ? Mono.empty() : awaited.chargeClosest(exchange, same -> Mono.empty());
                }));
    }

    /** Takes what is awaited, for the only one who charges it; {@code null} if the request does not wait for that. */
    static @Nullable AwaitedHandler take(ServerWebExchange exchange) {
        return (AwaitedHandler) exchange.getAttributes().remove(ATTRIBUTE);
    }

    /** Charges the request when its handler has been found. */
    <T> Mono<T> found(ServerWebExchange exchange, Object handler, Function<ServerWebExchange, Mono<T>> rest) {
        return stage.endpointOf(exchange, handler).flatMap(endpoint -> charge(exchange, endpoint, rest));
    }

    /** Charges the request when its handler has not been found; if it is admitted, it ends as before. */
    <T> Mono<T> missed(ServerWebExchange exchange, Throwable failure) {
        return chargeClosest(exchange, same -> Mono.error(failure));
    }

    private <T> Mono<T> chargeClosest(ServerWebExchange exchange, Function<ServerWebExchange, Mono<T>> rest) {
        return charge(exchange, stage.closestTo(exchange), rest);
    }

    private <T> Mono<T> charge(
            ServerWebExchange exchange, Endpoint endpoint, Function<ServerWebExchange, Mono<T>> rest) {
        return stage.charge(passage, request.at(exchange).leadingTo(endpoint), rest);
    }
}
