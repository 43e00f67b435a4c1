package dev.ratelimit.spring.web;

import dev.ratelimit.spring.RateLimited;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Requests that stay until they are let go. */
@RestController
class Staying {

    /** Those that answer without end, each in another way. */
    static final List<String> LOST = List.of("/lost-in-pieces", "/endless");

    final AtomicInteger inside = new AtomicInteger();
    private volatile Sinks.Empty<Void> door = Sinks.empty();

    /** Lets those go that are inside, and no others. */
    void letGo() {
        Sinks.Empty<Void> before = door;
        door = Sinks.empty();
        before.tryEmitEmpty();
    }

    @GetMapping({"/stay", "/stay-later"})
    Mono<String> stay() {
        Sinks.Empty<Void> mine = door;
        inside.incrementAndGet();
        return mine.asMono().thenReturn("stayed");
    }

    @GetMapping("/fatal")
    String fatal() {
        throw new AssertionError("on purpose");
    }

    @GetMapping("/lost-in-pieces")
    Mono<Void> lostInPieces(ServerHttpResponse response) {
        Mono<DataBuffer> piece =
                Mono.fromSupplier(() -> response.bufferFactory().wrap(new byte[1_000]));
        return response.writeAndFlushWith(Flux.<Mono<DataBuffer>>generate(sink -> sink.next(piece)));
    }

    @GetMapping("/annotated")
    @RateLimited(value = "1", algorithm = "concurrency", key = "header:X-Annotated")
    String annotated() {
        return "annotated";
    }
}
