package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.PinnedThreads;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Requests on virtual threads. */
@Tag("servers")
class VirtualThreadsTest {

    @RestController
    static class WhoAmI {
        @GetMapping("/thread")
        @RateLimited(value = "1000/hour; 2000/day", algorithm = "sliding-log", key = "ip")
        String thread() {
            return Thread.currentThread().toString();
        }
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    @DisplayName("H8 no virtual thread is pinned to its carrier while it decides")
    void requests_onVirtualThreads_pinNone() throws IOException, InterruptedException {
        try (RunningApp app = RunningApp.start(
                List.of(WhoAmI.class),
                "spring.threads.virtual.enabled=true",
                "ratelimit.policies.all.limit=1000/hour",
                "ratelimit.policies.by-id.limit=2/hour",
                "ratelimit.policies.by-id.key=header:X-Id")) {
            assertThat(app.get("/thread").body()).startsWith("VirtualThread");
            askInParallel(app);
            try (PinnedThreads pinned = PinnedThreads.record()) {
                askInParallel(app);
                assertThat(pinned.stop()).isEmpty();
            }
        }
    }

    /** Some are admitted, some refused, and all use the same policy. */
    private static void askInParallel(RunningApp app) throws InterruptedException {
        ExecutorService clients = Executors.newFixedThreadPool(16);
        IntStream.range(0, 400).forEach(i -> clients.execute(() -> app.get("/thread", "X-Id: " + i % 100)));
        clients.shutdown();
        assertThat(clients.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }
}
