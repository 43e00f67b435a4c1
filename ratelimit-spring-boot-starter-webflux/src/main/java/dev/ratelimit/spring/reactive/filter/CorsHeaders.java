package dev.ratelimit.spring.reactive.filter;

import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.reactive.CorsConfigurationSource;
import org.springframework.web.cors.reactive.CorsProcessor;
import org.springframework.web.cors.reactive.CorsUtils;
import org.springframework.web.cors.reactive.DefaultCorsProcessor;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Lets scripts in browsers read a refusal if they may read other responses: a refused request does not reach whatever
 * else writes CORS headers.
 */
public final class CorsHeaders {

    private final Supplier<List<CorsConfigurationSource>> sources;
    private final Function<ServerWebExchange, Mono<Void>> askHandlers;
    private final String exposed;
    private final CorsProcessor processor = new DefaultCorsProcessor();

    /**
     * Creates the headers that these sources configure.
     *
     * @param sources in the order in which they are asked
     * @param askHandlers lets the handler of the exchange write its own headers, if no source has any
     * @param exposed additional headers that scripts may read
     */
    CorsHeaders(
            Supplier<List<CorsConfigurationSource>> sources,
            Function<ServerWebExchange, Mono<Void>> askHandlers,
            List<String> exposed) {
        this.sources = sources;
        this.askHandlers = askHandlers;
        this.exposed = String.join(", ", exposed);
    }

    /** Writes the headers, if a script has sent the request. */
    public Mono<Void> write(ServerWebExchange exchange) {
        try {
            if (!CorsUtils.isCorsRequest(exchange.getRequest())) {
                return Mono.empty();
            }
            CorsConfiguration configuration = isWritten(exchange) ? null : find(exchange);
            // if the origin is not allowed, the processor would answer 403
            if (configuration != null && allows(configuration, exchange.getRequest())) {
                processor.process(configuration, exchange);
            }
            Mono<Void> handlers =
                    configuration == null && !isWritten(exchange) ? askHandlers.apply(exchange) : Mono.empty();
            return handlers.doOnTerminate(() -> expose(exchange)).onErrorComplete();
        } catch (IllegalArgumentException | IllegalStateException malformed) {
            // scripts of an invalid origin may read nothing
            return Mono.empty();
        }
    }

    private static boolean isWritten(ServerWebExchange exchange) {
        return exchange.getResponse().getHeaders().get(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN) != null;
    }

    private void expose(ServerWebExchange exchange) {
        if (isWritten(exchange)) {
            exchange.getResponse().getHeaders().add(HttpHeaders.ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        }
    }

    private @Nullable CorsConfiguration find(ServerWebExchange exchange) {
        for (CorsConfigurationSource source : sources.get()) {
            CorsConfiguration configuration = source.getCorsConfiguration(exchange);
            if (configuration != null) {
                return configuration;
            }
        }
        return null;
    }

    private static boolean allows(CorsConfiguration configuration, ServerHttpRequest request) {
        return configuration.checkOrigin(request.getHeaders().getOrigin()) != null
                && configuration.checkHttpMethod(request.getMethod()) != null;
    }
}
