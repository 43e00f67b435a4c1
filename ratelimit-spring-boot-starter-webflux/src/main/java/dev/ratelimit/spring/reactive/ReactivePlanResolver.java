package dev.ratelimit.spring.reactive;

import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.WebRequest;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Resolves the plan of the owner of a key, without blocking. A policy names a bean of this type with
 * {@code plan-resolver}, as a {@link PlanResolver}, which must not block in a WebFlux application. Asked once per request
 * if a policy that may apply names it, after Spring Security, on any thread.
 */
@FunctionalInterface
public interface ReactivePlanResolver extends PlanResolver {

    /**
     * Returns the name of the plan. An error counts as no plan and is logged, once a minute at most.
     *
     * @param exchange the request to charge
     * @return a name under {@code plans}; empty and any other name mean {@code plans.default}
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
        throw new IllegalStateException("a ReactivePlanResolver needs an exchange of WebFlux");
    }
}
