package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.rules.request.Endpoint;
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

    /**
     * Charges the request if a filter has ended it, so that nobody will know more than what its endpoint perhaps is, unless another
     * filter tries again.
     */
    private static Mono<Void> answered(ServerWebExchange exchange, Mono<Void> end) {
        AwaitedHandler awaited = of(exchange);
        if (awaited == null || awaited.passage.isRefused()) {
            return end;
        }
        RateLimitStage stage = awaited.stage;
        ReactiveWebRequest request = awaited.request.at(exchange).perhapsLeadingTo(stage.closestTo(exchange));
        return stage.afterAnswer().charge(awaited.passage, request, same -> end);
    }

    /** What is awaited; {@code null} if the request does not wait for that, or has been admitted. */
    static @Nullable AwaitedHandler of(ServerWebExchange exchange) {
        return exchange.getAttribute(ATTRIBUTE);
    }

    /** Charges the request when its handler has been found. */
    <T> Mono<T> found(ServerWebExchange exchange, Object handler, Function<ServerWebExchange, Mono<T>> rest) {
        return stage.endpointOf(exchange, handler).flatMap(endpoint -> charge(exchange, endpoint, rest));
    }

    /** Charges the request when its handler has not been found; if it is admitted, it ends as before. */
    <T> Mono<T> missed(ServerWebExchange exchange, Throwable failure) {
        return charge(exchange, stage.closestTo(exchange), same -> Mono.error(failure));
    }

    /** The wait ends when the request is admitted: until then, a filter may give up, and try again. */
    private <T> Mono<T> charge(
            ServerWebExchange exchange, Endpoint endpoint, Function<ServerWebExchange, Mono<T>> rest) {
        passage.goOnIfGivenUp();
        return stage.charge(passage, request.at(exchange).leadingTo(endpoint), admitted -> {
            admitted.getAttributes().remove(ATTRIBUTE);
            return rest.apply(admitted);
        });
    }
}
