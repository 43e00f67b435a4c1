package dev.ratelimit.sample;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Exports, which take three seconds. The policy {@code exports} permits two at once from one address. */
@RestController
class ExportController {

    record Export(long id, int rows) {}

    @GetMapping("/api/exports/{id}")
    CompletableFuture<Export> byId(@PathVariable long id) {
        return CompletableFuture.supplyAsync(
                () -> new Export(id, 1_000), CompletableFuture.delayedExecutor(3, TimeUnit.SECONDS));
    }
}
