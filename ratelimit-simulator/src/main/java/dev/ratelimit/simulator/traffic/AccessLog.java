package dev.ratelimit.simulator.traffic;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** One or more logs as one, in the order of their times, each sorted within a window. Not thread-safe. */
public final class AccessLog implements LogSource {

    /** Stands for standard input. */
    public static final String STANDARD_INPUT = "-";

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
    private final List<String> inputs;
    private final LogOptions options;
    private final List<Sorted> logs = new ArrayList<>();
    private final PriorityQueue<Sorted> next =
            new PriorityQueue<>(Comparator.comparingLong(Sorted::nanos).thenComparingInt(log -> log.index));
    private long lastNanos = Long.MIN_VALUE;

    private AccessLog(List<String> inputs, LogOptions options) {
        this.inputs = List.copyOf(inputs);
        this.options = options;
    }

    /**
     * Opens logs, and reads as much of each as it takes to know what its lines have.
     *
     * @param inputs files, perhaps compressed with gzip, or {@link #STANDARD_INPUT}
     * @throws IllegalArgumentException if the format is not known, or the log lacks a field that was named
     * @throws IOException if a file cannot be read
     */
    public static AccessLog open(List<String> inputs, LogOptions options) throws IOException {
        AccessLog log = new AccessLog(inputs, options);
        try {
            for (String input : inputs) {
                InputStream in = input.equals(STANDARD_INPUT) ? System.in : Files.newInputStream(Path.of(input));
                String name = input.equals(STANDARD_INPUT) ? "standard input" : input;
                log.add(new LogFile(name, in, options, log.summary));
            }
            log.start();
            return log;
        } catch (IOException | RuntimeException | Error e) {
            log.close();
            throw e;
        }
    }

    /** Opens one log. */
    public static AccessLog of(InputStream in, LogOptions options) throws IOException {
        AccessLog log = new AccessLog(List.of(STANDARD_INPUT), options);
        log.add(new LogFile("the log", in, options, log.summary));
        log.start();
        return log;
    }

    private void add(LogFile file) {
        logs.add(new Sorted(file, logs.size(), options.window()));
    }

    private void start() throws IOException {
        for (Sorted log : logs) {
            log.advance();
            next.add(log);
        }
        checkRecordings();
        for (Sorted log : logs) {
            log.file.describe();
            if (log.file.lacksNames() && !(log.file.mayHaveOtherFields() && survey())) {
                log.file.checkNames();
            }
        }
        logs.forEach(log -> {
            log.window.forEach(summary::peek);
            if (log.next != null) {
                summary.peek(log.next);
            }
        });
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

    /** Whether later lines may have fields that those so far do not have. */
    public boolean mayHaveOtherFields() {
        return logs.stream().anyMatch(log -> log.file.mayHaveOtherFields());
    }

    /**
     * Reads the logs once more, from their beginning to their end, to know what any of their requests has: for the
     * {@link #summary}, besides what was known of the first ones.
     *
     * @return whether that is possible: standard input can be read only once
     * @throws IllegalArgumentException if no line has a field that was named
     */
    public boolean survey() throws IOException {
        if (inputs.contains(STANDARD_INPUT)) {
            return false;
        }
        LogSummary whole = new LogSummary();
        whole.recording(summary.recording());
        for (String input : inputs) {
            try (LogFile file = new LogFile(input, Files.newInputStream(Path.of(input)), options, whole)) {
                for (LoggedRequest request = file.next(); request != null; request = file.next()) {
                    whole.peek(request);
                }
                file.describe();
                file.checkNames();
            }
        }
        summary.learn(whole);
        return true;
    }

    @Override
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

    @Override
    public LogSummary summary() {
        logs.forEach(log -> log.file.times(summary));
        return summary;
    }

    @Override
    public void close() throws IOException {
        for (Sorted log : logs) {
            log.file.close();
        }
    }
}
