package dev.ratelimit.simulator.traffic;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** One or more logs as one, in the order of their times, each sorted within a window. Not thread-safe. */
public final class AccessLog implements AutoCloseable {

    /** One log, and its next requests. */
    private static final class Sorted {

        private final LogFile file;
        private final SortingWindow window;
        private final int index;
        private @Nullable LoggedRequest next;

        Sorted(LogFile file, int index, int window) {
            this.file = file;
            this.index = index;
            this.window = new SortingWindow(window);
        }

        void advance() throws IOException {
            while (!window.isFull()) {
                LoggedRequest read = file.next();
                if (read == null) {
                    break;
                }
                window.add(read);
            }
            next = window.poll();
        }

        long nanos() {
            return next == null ? Long.MAX_VALUE : next.nanos();
        }
    }

    private final LogSummary summary = new LogSummary();
    private final LogOptions options;
    private final List<Sorted> logs = new ArrayList<>();
    private final PriorityQueue<Sorted> next =
            new PriorityQueue<>(Comparator.comparingLong(Sorted::nanos).thenComparingInt(log -> log.index));
    private long lastNanos = Long.MIN_VALUE;

    private AccessLog(LogOptions options) {
        this.options = options;
    }

    /**
     * Opens logs.
     *
     * @param files perhaps compressed with gzip, by their names in messages
     * @throws IllegalArgumentException if the format is not known
     * @throws IOException if a file cannot be read
     */
    public static AccessLog open(List<NamedFile> files, LogOptions options) throws IOException {
        AccessLog log = new AccessLog(options);
        try {
            for (NamedFile file : files) {
                log.add(file.name(), Files.newInputStream(file.path()));
            }
            return log;
        } catch (IOException | RuntimeException | Error e) {
            log.close();
            throw e;
        }
    }

    /** Opens one log. */
    public static AccessLog of(InputStream in, LogOptions options) throws IOException {
        AccessLog log = new AccessLog(options);
        log.add("the log", in);
        return log;
    }

    private void add(String name, InputStream in) throws IOException {
        Sorted log = new Sorted(new LogFile(name, in, options, summary), logs.size(), options.window());
        logs.add(log);
        log.advance();
        next.add(log);
    }

    /**
     * Reads logs to their ends, to know what their requests have.
     *
     * @throws IllegalArgumentException if the format is not known, no line has a field that was named, or there is another log
     *     beside a recording
     */
    public static LogSummary survey(List<NamedFile> files, LogOptions options) throws IOException {
        try (AccessLog log = open(files, options)) {
            while (log.next() != null) {
                // the summary is told
            }
            log.checkRecordings();
            for (Sorted each : log.logs) {
                each.file.checkNames();
            }
            return log.summary;
        }
    }

    /** A recording is the only log: other recordings have other hashes, and other logs have met no recorded policy. */
    private void checkRecordings() {
        List<LogFile> files = logs.stream()
                .map(log -> log.file)
                .filter(file -> !file.isEmpty())
                .toList();
        LogFile recording =
                files.stream().filter(LogFile::isRecording).findFirst().orElse(null);
        if (recording != null && files.size() > 1) {
            LogFile other = files.get(files.get(0) == recording ? 1 : 0);
            throw new IllegalArgumentException(recording.name() + " is a recording, and "
                    + (other.isRecording()
                            ? other.name() + ", too, with other hashes, or with the same requests"
                            : other.name() + " is none, so that its requests would meet none of the recorded policies")
                    + "; replay one after the other");
        }
    }

    /** The next request; {@code null} if there are no more. */
    public @Nullable LoggedRequest next() throws IOException {
        Sorted first = next.poll();
        if (first == null || first.next == null) {
            return null;
        }
        LoggedRequest request = first.next;
        first.advance();
        next.add(first);
        if (request.nanos() < lastNanos) {
            summary.addLate();
        }
        lastNanos = Math.max(lastNanos, request.nanos());
        summary.request(request);
        return request;
    }

    /** What was found so far. */
    public LogSummary summary() {
        return summary;
    }

    @Override
    public void close() throws IOException {
        for (Sorted log : logs) {
            log.file.close();
        }
    }
}
