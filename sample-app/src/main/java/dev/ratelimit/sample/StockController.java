package dev.ratelimit.sample;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/** The stock, answered asynchronously or as a stream. Such a request is charged once, when it arrives. */
@RestController
@RequestMapping("/api/stock")
class StockController {

    record Stock(long product, int pieces) {}

    /** Answers from another thread. */
    @GetMapping("/{product}")
    CompletableFuture<Stock> of(@PathVariable long product) {
        return CompletableFuture.supplyAsync(() -> new Stock(product, 12));
    }

    /** Streams the changes of the stock, one per line. */
    @GetMapping("/{product}/changes")
    ResponseEntity<StreamingResponseBody> changes(@PathVariable long product) {
        return ResponseEntity.ok().contentType(MediaType.TEXT_PLAIN).body(out -> {
            for (int pieces = 12; pieces > 9; pieces--) {
                out.write((product + ": " + pieces + "\n").getBytes(StandardCharsets.US_ASCII));
                out.flush();
            }
        });
    }
}
