package dev.ratelimit.spring.web;

import java.nio.charset.StandardCharsets;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** Filters that commit the response, if the request asks for that: before all limits, or between their stages. */
@Configuration(proxyBeanMethods = false)
class Committing {

    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    WebFilter first() {
        return committing("X-Commit", "x");
    }

    @Bean
    @Order(-95)
    WebFilter betweenTheStages() {
        return committing("X-Hasty", "");
    }

    private static WebFilter committing(String header, String body) {
        return (exchange, chain) -> {
            if (!"yes".equals(exchange.getRequest().getHeaders().getFirst(header))) {
                return chain.filter(exchange);
            }
            ServerHttpResponse response = exchange.getResponse();
            byte[] bytes = body.getBytes(StandardCharsets.US_ASCII);
            return response.writeWith(
                            Mono.fromSupplier(() -> response.bufferFactory().wrap(bytes)))
                    .then(Mono.defer(() -> chain.filter(exchange)));
        };
    }
}
