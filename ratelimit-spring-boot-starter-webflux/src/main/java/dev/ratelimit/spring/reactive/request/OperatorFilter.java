package dev.ratelimit.spring.reactive.request;

import dev.ratelimit.spring.boot.actuate.EndpointArguments;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Mono;

/** Keeps the answers of the actuator endpoint private, and refuses changes with a query. */
public final class OperatorFilter implements WebFilter, Ordered {

    /** The paths of the endpoint, matched as its mapping does; {@code null} if it has none. */
    private final Supplier<@Nullable PathPattern> paths;

    /**
     * Creates the filter.
     *
     * @param path of the endpoint, known later; {@code null} if it has none
     */
    public OperatorFilter(Supplier<@Nullable String> path) {
        this.paths = SingletonSupplier.ofNullable(() -> {
            String root = path.get();
            return root == null ? null : PathPatternParser.defaultInstance.parse(root + "/**");
        });
    }

    /** After Spring Security. */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        PathPattern endpoint = paths.get();
        if (endpoint == null
                || !endpoint.matches(exchange.getRequest().getPath().pathWithinApplication())) {
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
