package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.reactive.function.server.RequestPredicates.GET;
import static org.springframework.web.reactive.function.server.RequestPredicates.queryParam;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** Mappings of WebFlux are asked once, by WebFlux, and requests whose handler they find are charged once. */
@Tag("servers")
class LookUpTest {

    /** The first mapping: it finds nothing, and counts how often it is asked; nobody knows what it would find. */
    static class Counting implements HandlerMapping, Ordered {

        private final AtomicInteger asked = new AtomicInteger();

        @Override
        public Mono<Object> getHandler(ServerWebExchange exchange) {
            asked.incrementAndGet();
            return Mono.empty();
        }

        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }
    }

    @RestController
    static class Api {

        @RateLimited("2/minute")
        @GetMapping("/annotated")
        Mono<String> annotated() {
            return Mono.just("annotated");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Mappings {

        @Bean
        Counting counting() {
            return new Counting();
        }

        @Bean
        RouterFunction<ServerResponse> functions() {
            return route(
                    GET("/choice").and(queryParam("q", "1")),
                    request -> ServerResponse.ok().bodyValue("one"));
        }

        /** Answers without a handler. */
        @Bean
        @Order(0)
        WebFilter gate() {
            return (exchange, chain) -> {
                if (exchange.getRequest().getHeaders().getFirst("X-Gate") != null) {
                    exchange.getResponse().setStatusCode(HttpStatus.UNAUTHORIZED);
                    return exchange.getResponse().setComplete();
                }
                return chain.filter(exchange);
            };
        }
    }

    private final RunningApp app = RunningApp.start(
            List.of(TestApi.class, Api.class, Mappings.class),
            "ratelimit.policies.each.limit=3/minute",
            "ratelimit.policies.each.key=ip,endpoint");

    private int asked() {
        return app.bean(Counting.class).asked.getAndSet(0);
    }

    @AfterEach
    void stop() {
        app.close();
    }

    @Test
    void mappings_areAskedOnceForEachAdmittedRequest() {
        assertThat(app.get("/orders/1").status()).isEqualTo(200);
        assertThat(asked()).isEqualTo(1);
        assertThat(app.get("/choice?q=1").status()).isEqualTo(200);
        assertThat(asked()).isEqualTo(1);
    }

    @Test
    void request_whoseHandlerIsAwaited_isChargedOnceToIt() {
        assertThat(app.get("/annotated").header("RateLimit")).contains("r=2");
        assertThat(app.get("/annotated").status()).isEqualTo(200);
        assertThat(app.get("/annotated").status()).isEqualTo(429);
        assertThat(app.get("/orders/1").header("RateLimit")).contains("\"each\";r=2");
    }

    @Test
    void request_withoutAHandler_isChargedOnceBeforeItsError() {
        for (int i = 0; i < 3; i++) {
            assertThat(app.send("DELETE /any/" + i + " HTTP/1.1").status()).isEqualTo(404);
        }
        assertThat(app.send("DELETE /any/4 HTTP/1.1").status()).isEqualTo(429);
        assertThat(app.send("PATCH /orders/1 HTTP/1.1").status()).isEqualTo(405);
    }

    @Test
    void request_thatAFilterAnswers_isChargedAfterwards() {
        for (int i = 0; i < 3; i++) {
            assertThat(app.get("/orders/1", "X-Gate: closed").status()).isEqualTo(401);
        }
        assertThat(app.get("/orders/1").status()).isEqualTo(429);
    }
}
