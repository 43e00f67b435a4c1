package dev.ratelimit.spring.reactive.request;

import dev.ratelimit.spring.boot.actuate.EndpointArguments;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/** Keeps the answers of the actuator endpoint private, and refuses changes with a query. */
public final class OperatorFilter implements WebFilter, Ordered {

    /** The path of the endpoint; {@code null} if it has none. */
    private final Supplier<@Nullable String> path;

    /**
     * Creates the filter.
     *
     * @param path of the endpoint, known later; {@code null} if it has none
     */
    public OperatorFilter(Supplier<@Nullable String> path) {
        this.path = path;
    }

    /** After Spring Security. */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        String root = path.get();
        String requested =
                exchange.getRequest().getPath().pathWithinApplication().value();
        if (root == null || !(requested.equals(root) || requested.startsWith(root + "/"))) {
            return chain.filter(exchange);
        }
        HttpHeaders headers = exchange.getResponse().getHeaders();
        EndpointArguments.HEADERS.forEach(headers::set);
        headers.add(EndpointArguments.CSP, EndpointArguments.FRAMES);
        boolean change = HttpMethod.POST.equals(exchange.getRequest().getMethod());
        return change && exchange.getRequest().getURI().getRawQuery() != null
                ? refuse(exchange)
                : chain.filter(exchange);
    }

    private static Mono<Void> refuse(ServerWebExchange exchange) {
        ReactiveWebResponse response = new ReactiveWebResponse(exchange);
        response.setStatus(HttpStatus.BAD_REQUEST.value());
        response.write("application/json", "{\"error\":\"" + EndpointArguments.QUERY + "\"}");
        return response.send();
    }
}
