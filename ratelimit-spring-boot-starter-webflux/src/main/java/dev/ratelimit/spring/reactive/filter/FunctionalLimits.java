package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.reactive.RouteLimits;
import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.springframework.web.reactive.function.server.HandlerFilterFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;

/** Charges the policies that functional routes name, after the filters. */
final class FunctionalLimits implements RouteLimits {

    /** Functional routes have no ids. */
    static final String ROUTE = "of a function";

    private final BiFunction<String, List<String>, RouteLimit> limits;
    private final Set<String> named = ConcurrentHashMap.newKeySet();

    /**
     * Creates the limits.
     *
     * @param limits creates those of a route that names policies
     */
    FunctionalLimits(BiFunction<String, List<String>, RouteLimit> limits) {
        this.limits = limits;
    }

    /** The policies that routes name. */
    Set<String> named() {
        return named;
    }

    @Override
    public HandlerFilterFunction<ServerResponse, ServerResponse> of(String... policies) {
        RouteLimit limit = limits.apply(ROUTE, List.of(policies));
        named.addAll(List.of(policies));
        return (request, next) -> limit.charge(
                ReactiveWebRequest.of(request.exchange()),
                exchange -> next.handle(
                        exchange == request.exchange()
                                ? request
                                : ServerRequest.create(exchange, request.messageReaders())));
    }
}
