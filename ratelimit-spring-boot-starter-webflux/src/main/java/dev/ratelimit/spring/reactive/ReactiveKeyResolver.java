package dev.ratelimit.spring.reactive;

import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.WebRequest;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Resolves whose budget a request is charged to, without blocking. A policy names a bean of this type with
 * {@code key: bean:NAME}, as a {@link KeyResolver}, which must not block in a WebFlux application. Asked once per request
 * if a policy that may apply names it, after Spring Security, on any thread.
 */
@FunctionalInterface
public interface ReactiveKeyResolver extends KeyResolver {

    /**
     * Returns the owner of the budget. An error counts as no owner and is logged, once a minute at most.
     *
     * @param exchange the request to charge
     * @return any text; empty or blank if the request has no owner, which {@code missing-key} then decides on
     */
    Mono<String> resolve(ServerWebExchange exchange);

    /**
     * Not called: the starter for WebFlux subscribes to {@link #resolve(ServerWebExchange)} before it charges a request.
     *
     * @throws IllegalStateException always
     */
    @Override
    @SuppressWarnings("FunctionalInterfaceMethodChanged") // the starter asks the other method
    default String resolve(WebRequest request) {
        throw new IllegalStateException("a ReactiveKeyResolver needs an exchange of WebFlux");
    }
}
