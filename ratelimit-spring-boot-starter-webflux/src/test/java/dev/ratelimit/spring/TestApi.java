package dev.ratelimit.spring;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Endpoints of every kind that count how often they are reached. */
@RestController
public class TestApi implements Forgetful {

    /** Paths of endpoints that only WebFlux has. */
    public static final List<String> MORE = List.of("/deferred", "/bad-gateway");

    private final AtomicInteger reached = new AtomicInteger();

    @Override
    public void forget() {
        reached.set(0);
    }

    /** How often any endpoint was reached. */
    public int reached() {
        return reached.get();
    }

    @GetMapping("/orders/{id}")
    String order(@PathVariable String id) {
        reached.incrementAndGet();
        return id;
    }

    @DeleteMapping("/orders/{id}")
    Mono<String> delete(@PathVariable String id) {
        reached.incrementAndGet();
        return Mono.just(id);
    }

    @PostMapping(path = "/orders", consumes = "application/json", produces = "application/json")
    Mono<String> create() {
        reached.incrementAndGet();
        return Mono.just("{}");
    }

    @RequestMapping("/any")
    Mono<String> any() {
        reached.incrementAndGet();
        return Mono.just("any");
    }

    @GetMapping("/callable")
    Mono<String> callable() {
        return Mono.fromCallable(() -> "later");
    }

    @GetMapping("/deferred")
    Mono<String> deferred() {
        return Mono.delay(Duration.ofMillis(1)).thenReturn("later");
    }

    @GetMapping(path = "/sse", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    Flux<String> sse() {
        return Flux.just("one", "two");
    }

    @GetMapping("/stream")
    Flux<String> stream() {
        return Flux.just("stream", "ed");
    }

    @GetMapping("/boom")
    Mono<String> boom() {
        return Mono.error(new IllegalStateException("boom"));
    }

    @GetMapping("/bad-gateway")
    Mono<String> badGateway() {
        return Mono.error(new ResponseStatusException(HttpStatus.BAD_GATEWAY));
    }

    @GetMapping("/redirect")
    Mono<ResponseEntity<Void>> redirect() {
        return Mono.just(ResponseEntity.status(HttpStatus.FOUND)
                .header("Location", "/any")
                .build());
    }
}
