package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
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
    void requests_onVirtualThreads_pinNone(@TempDir Path directory) throws IOException, InterruptedException {
        Path file = directory.resolve("pinned.jfr");
        try (RunningApp app = RunningApp.start(
                        List.of(WhoAmI.class),
                        "spring.threads.virtual.enabled=true",
                        "ratelimit.policies.all.limit=1000/hour",
                        "ratelimit.policies.by-id.limit=2/hour",
                        "ratelimit.policies.by-id.key=header:X-Id");
                Recording recording = new Recording()) {
            assertThat(app.get("/thread").body()).startsWith("VirtualThread");
            askInParallel(app);
            recording.enable("jdk.VirtualThreadPinned").withStackTrace().withThreshold(Duration.ZERO);
            recording.enable("jdk.VirtualThreadStart");
            recording.start();
            askInParallel(app);
            recording.stop();
            recording.dump(file);
        }

        List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        assertThat(events).anyMatch(event -> event.getEventType().getName().equals("jdk.VirtualThreadStart"));
        assertThat(events)
                .filteredOn(event -> event.getEventType().getName().equals("jdk.VirtualThreadPinned"))
                .filteredOn(VirtualThreadsTest::isInTheFilter)
                .isEmpty();
    }

    /**
     * Whether the innermost code of an application in the stack is the filter's. The JVM itself pins a thread that
     * loads or initializes a class, once per class, which a server may do at any time.
     */
    private static boolean isInTheFilter(RecordedEvent pinned) {
        List<String> methods = pinned.getStackTrace().getFrames().stream()
                .map(RecordedFrame::getMethod)
                .map(method -> method.getType().getName() + "." + method.getName())
                .toList();
        if (methods.stream().anyMatch(method -> method.matches("java\\.lang\\.ClassLoader\\..*|.*\\.<clinit>"))) {
            return false;
        }
        return methods.stream()
                .filter(method -> method.matches("dev\\.ratelimit\\..*|.*FilterChain\\.doFilter"))
                .limit(1)
                .anyMatch(method -> method.startsWith("dev.ratelimit."));
    }

    /** Some are admitted, some refused, and all use the same policy. */
    private static void askInParallel(RunningApp app) throws InterruptedException {
        ExecutorService clients = Executors.newFixedThreadPool(16);
        IntStream.range(0, 400).forEach(i -> clients.execute(() -> app.get("/thread", "X-Id: " + i % 100)));
        clients.shutdown();
        assertThat(clients.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }
}
