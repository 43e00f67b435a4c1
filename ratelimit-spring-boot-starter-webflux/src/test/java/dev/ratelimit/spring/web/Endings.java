package dev.ratelimit.spring.web;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Ends requests in the ways of WebFlux. */
@RestController
class Endings {

    /** The ways that only WebFlux has: path, Accept, status, charged by count: 401, charged by free: 2xx. */
    static final List<String> MORE = List.of(
            "/left?status=200, */*, 200, false, false",
            "/left?status=401, */*, 401, true, true",
            "/set-at-last?status=401, */*, 401, true, true",
            "/left-by-filter?status=200, */*, 200, false, false",
            "/left-by-filter?status=401, */*, 401, true, true",
            "/left-by-filter?status=404, */*, 404, false, true");

    final AtomicInteger reached = new AtomicInteger();
    private final AtomicInteger unended = new AtomicInteger();
    private final Sinks.Empty<Void> gone = Sinks.empty();

    static final class LoginFailed extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    static final class ToOuterFilter extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** The requests whose end the server has not told: what they hold comes back by time only. */
    int unended() {
        return unended.get();
    }

    /** What answers exceptions, and a filter that leaves its answer to the server. */
    @Configuration(proxyBeanMethods = false)
    static class Pages {

        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE)
        WebFilter counting(Endings endings) {
            return (exchange, chain) -> Mono.defer(() -> {
                        endings.unended.incrementAndGet();
                        return chain.filter(exchange);
                    })
                    .doFinally(end -> endings.unended.decrementAndGet());
        }

        /** Turns exceptions into a 401, outside of the rate limits. */
        @Bean
        @Order(-1_000)
        WebFilter outer() {
            return (exchange, chain) ->
                    chain.filter(exchange).onErrorResume(ToOuterFilter.class, failure -> answer(exchange, 401));
        }

        @Bean
        @Order(0)
        WebFilter leaving() {
            return (exchange, chain) -> {
                if (!exchange.getRequest().getPath().value().equals("/left-by-filter")) {
                    return chain.filter(exchange);
                }
                exchange.getResponse()
                        .setRawStatusCode(Integer.valueOf(
                                exchange.getRequest().getQueryParams().getFirst("status")));
                return Mono.empty();
            };
        }
    }

    private static Mono<Void> answer(ServerWebExchange exchange, int status) {
        exchange.getResponse().setRawStatusCode(status);
        return exchange.getResponse().setComplete();
    }

    @GetMapping("/sent")
    Mono<Void> sent(@RequestParam int status, ServerWebExchange exchange) {
        return answer(exchange, status);
    }

    @GetMapping("/set-at-last")
    Mono<String> setAtLast(@RequestParam int status, ServerHttpResponse response) {
        response.beforeCommit(() -> {
            response.setRawStatusCode(status);
            return Mono.empty();
        });
        return Mono.just("text");
    }

    @GetMapping("/left")
    Mono<Void> left(@RequestParam int status, ServerWebExchange exchange) {
        exchange.getResponse().setRawStatusCode(status);
        return Mono.empty();
    }

    @GetMapping("/thrown-after-status")
    Mono<String> thrownAfterStatus(ServerHttpResponse response) {
        response.setStatusCode(HttpStatus.NOT_FOUND);
        return Mono.error(() -> new IllegalStateException("broken"));
    }

    @GetMapping("/thrown-to-page")
    Mono<String> thrownToPage() {
        return Mono.error(LoginFailed::new);
    }

    @ExceptionHandler(LoginFailed.class)
    ResponseEntity<String> page() {
        return ResponseEntity.status(401).body("failed");
    }

    @GetMapping("/thrown-to-filter")
    Mono<String> thrownToFilter() {
        return Mono.error(ToOuterFilter::new);
    }

    @GetMapping("/thrown-after-commit")
    Mono<Void> thrownAfterCommit(ServerHttpResponse response) {
        Flux<DataBuffer> broken = Flux.error(() -> new IllegalStateException("broken"));
        Mono<DataBuffer> begun =
                Mono.fromSupplier(() -> response.bufferFactory().wrap("begun".getBytes(StandardCharsets.UTF_8)));
        return response.writeAndFlushWith(Flux.just(begun, broken));
    }

    private static Mono<Long> shortly() {
        return Mono.delay(Duration.ofMillis(1));
    }

    @GetMapping("/later")
    Mono<ResponseEntity<String>> later(@RequestParam int status) {
        return shortly().map(over -> ResponseEntity.status(status).body("later"));
    }

    @GetMapping("/sent-later")
    Mono<String> sentLater(@RequestParam int status) {
        return shortly().then(Mono.error(() -> new ResponseStatusException(HttpStatus.valueOf(status))));
    }

    @GetMapping("/thrown-later")
    Mono<String> thrownLater() {
        return shortly().then(Mono.error(() -> new IllegalStateException("broken")));
    }

    @GetMapping("/never")
    Mono<String> never() {
        Mono<String> late = Mono.error(() -> new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE));
        return Mono.<String>never().timeout(Duration.ofMillis(100), late);
    }

    @GetMapping(path = "/endless", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    Flux<String> endless() {
        return Flux.interval(Duration.ofMillis(1)).onBackpressureDrop().map(i -> "x".repeat(1_000));
    }

    /** Sends nothing, and fails when the client has gone. */
    @GetMapping("/abandoned")
    Mono<String> abandoned() {
        reached.incrementAndGet();
        return gone.asMono().then(Mono.error(() -> new IllegalStateException("the client has gone")));
    }

    /** Sends a 401 when the client has gone. */
    @GetMapping("/abandoned-unauthorized")
    Flux<String> abandonedUnauthorized(ServerHttpResponse response) {
        response.setStatusCode(HttpStatus.UNAUTHORIZED);
        reached.incrementAndGet();
        return gone.asMono().thenMany(Flux.range(0, 1_000).map(i -> "x".repeat(1 << 16)));
    }

    /** Tells the two above that the client has gone. */
    void clientGone() {
        gone.tryEmitEmpty();
    }
}
