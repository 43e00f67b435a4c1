package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * A request whose endpoint only WebFlux can tell. What depends on the endpoint is charged when its handler has been found, or
 * when none has been found, before anything answers; if another filter answers it, afterwards. Once in any case.
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
                .onErrorResume(failure -> answered(exchange, Mono.error(failure)))
                .then(Mono.defer(() -> answered(exchange, Mono.empty())));
    }

    /** Charges the request if a filter has ended it, so that nobody will ever know more than what its endpoint perhaps is. */
    private static Mono<Void> answered(ServerWebExchange exchange, Mono<Void> end) {
        AwaitedHandler awaited = take(exchange);
        if (awaited == null) {
            return end;
        }
        RateLimitStage stage = awaited.stage;
        ReactiveWebRequest request = awaited.request.at(exchange).perhapsLeadingTo(stage.closestTo(exchange));
        return stage.afterAnswer().charge(awaited.passage, request, same -> end);
    }

    /** Takes what is awaited, for the only one who charges it; {@code null} if the request does not wait for that. */
    static @Nullable AwaitedHandler take(ServerWebExchange exchange) {
        return (AwaitedHandler) exchange.getAttributes().remove(ATTRIBUTE);
    }

    /** Charges the request when its handler has been found. */
    <T> Mono<T> found(ServerWebExchange exchange, Object handler, Function<ServerWebExchange, Mono<T>> rest) {
        return stage.endpointOf(exchange, handler)
                .flatMap(endpoint -> stage.charge(passage, request.at(exchange).leadingTo(endpoint), rest));
    }

    /** Charges the request when its handler has not been found; if it is admitted, it ends as before. */
    <T> Mono<T> missed(ServerWebExchange exchange, Throwable failure) {
        ReactiveWebRequest closest = request.at(exchange).leadingTo(stage.closestTo(exchange));
        return stage.charge(passage, closest, same -> Mono.error(failure));
    }
}
