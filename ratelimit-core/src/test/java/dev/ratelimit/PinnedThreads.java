package dev.ratelimit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/** Records the virtual threads that keep their carrier while they wait inside this library. */
public final class PinnedThreads implements AutoCloseable {

    private static final String STARTED = "jdk.VirtualThreadStart";
    private static final String PINNED = "jdk.VirtualThreadPinned";

    private final Recording recording = new Recording();

    private PinnedThreads() {
        recording.enable(PINNED).withStackTrace().withThreshold(Duration.ZERO);
        recording.enable(STARTED);
        recording.start();
    }

    /** Needs JDK 21. */
    public static PinnedThreads record() {
        return new PinnedThreads();
    }

    /** Ends the recording: a pin inside this library each. Fails if no virtual thread was started meanwhile. */
    public List<RecordedEvent> stop() throws IOException {
        recording.stop();
        Path file = Files.createTempFile("pinned", ".jfr");
        try {
            recording.dump(file);
            List<RecordedEvent> events = RecordingFile.readAllEvents(file);
            if (events.stream().noneMatch(event -> isOf(STARTED, event))) {
                throw new AssertionError("no virtual thread was started");
            }
            return events.stream()
                    .filter(event -> isOf(PINNED, event))
                    .filter(PinnedThreads::isInsideLibrary)
                    .toList();
        } finally {
            Files.delete(file);
        }
    }

    @Override
    public void close() {
        recording.close();
    }

    private static boolean isOf(String type, RecordedEvent event) {
        return event.getEventType().getName().equals(type);
    }

    /**
     * Whether the innermost code of an application in the stack is the library's. The JVM itself pins a thread that
     * loads or initializes a class, once per class, and one that starts or ends, for as long as its event is written;
     * these may happen at any time.
     */
    private static boolean isInsideLibrary(RecordedEvent pin) {
        List<String> methods = pin.getStackTrace().getFrames().stream()
                .map(RecordedFrame::getMethod)
                .map(method -> method.getType().getName() + "." + method.getName())
                .toList();
        if (methods.stream().anyMatch(method -> method.matches("java\\.lang\\.ClassLoader\\..*|.*\\.<clinit>"))) {
            return false;
        }
        return methods.stream()
                .filter(method -> method.matches("dev\\.ratelimit\\..*|.*FilterChain\\.doFilter"))
                .limit(1)
                .anyMatch(method -> method.matches("dev\\.ratelimit\\.(?!.*Test[.$]).*"));
    }
}
