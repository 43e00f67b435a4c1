package dev.ratelimit.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** The stock, answered later or bit by bit. Such a request is charged once, when it comes. */
@RestController
@RequestMapping("/api/stock")
class StockController {

    record Stock(long product, int pieces) {}

    /** Answers from another thread. */
    @GetMapping("/{product}")
    CompletableFuture<Stock> of(@PathVariable long product) {
        return CompletableFuture.supplyAsync(() -> new Stock(product, 12));
    }

    /** Streams the changes of the stock as server-sent events. */
    @GetMapping(path = "/{product}/changes", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter changes(@PathVariable long product) {
        SseEmitter events = new SseEmitter();
        CompletableFuture.runAsync(() -> send(events, product)).whenComplete((done, failure) -> {
            if (failure == null) {
                events.complete();
            } else {
                events.completeWithError(failure);
            }
        });
        return events;
    }

    private static void send(SseEmitter events, long product) {
        try {
            for (int pieces = 12; pieces > 9; pieces--) {
                events.send(new Stock(product, pieces));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
