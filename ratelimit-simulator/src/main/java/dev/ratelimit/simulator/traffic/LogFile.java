package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.input.GzipStream;
import dev.ratelimit.simulator.input.LineReader;
import dev.ratelimit.simulator.recording.Recording;
import dev.ratelimit.simulator.text.PrintableText;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/** One log, line by line, in the order of its lines. Not thread-safe. */
final class LogFile implements AutoCloseable {

    /** A log may begin in the middle of a line, or with a few that are no requests. */
    private static final int GUESSES = 20;

    private final String name;
    private final LineReader lines;
    private final LogSummary summary;
    private final LogOptions options;
    private @Nullable LogFormat format;
    private final RequestDraft draft;

    /** The first line, if it has no known format; {@code null} if it has one. */
    private @Nullable String unknown;

    /** How many lines there were so far, besides headings. */
    private long read;

    private boolean ended;

    /**
     * Opens a log.
     *
     * @param name for messages
     * @param in perhaps compressed with gzip
     * @param summary is told what is found
     */
    LogFile(String name, InputStream in, LogOptions options, LogSummary summary) throws IOException {
        this.name = name;
        try {
            this.lines = new LineReader(uncompressed(in));
        } catch (EOFException | ZipException e) {
            throw new IOException(name + " is no complete gzip file", e);
        }
        this.options = options;
        this.summary = summary;
        this.draft = new RequestDraft(options);
    }

    private static InputStream uncompressed(InputStream in) throws IOException {
        BufferedInputStream buffered = new BufferedInputStream(in, 1 << 16);
        buffered.mark(2);
        boolean zipped = buffered.read() == 0x1f && buffered.read() == 0x8b;
        buffered.reset();
        return zipped ? new GzipStream(buffered) : buffered;
    }

    /** The next request; {@code null} if there are no more. */
    @Nullable
    LoggedRequest next() throws IOException {
        for (String line = lines.next(); line != null; line = lines.next()) {
            try {
                LoggedRequest request = line.isEmpty() ? null : request(line);
                if (request != null) {
                    return request;
                }
            } catch (UnreadableLineException e) {
                summary.malformed(name + ", line " + lines.number(), e.reason());
            }
        }
        if (!ended) {
            ended = true;
            end();
        }
        return null;
    }

    /** The request of a line; {@code null} if it is a heading. */
    private @Nullable LoggedRequest request(String line) throws UnreadableLineException {
        if (lines.isTooLong()) {
            summary.line();
            throw new UnreadableLineException("it is longer than 1 MiB");
        }
        LogFormat known = format == null ? open(line) : format;
        checkRecording(known, line);
        if (known.isHeading(line)) {
            summary.recording(known.recording());
            return null;
        }
        summary.line();
        read++;
        draft.clear();
        known.read(line, draft);
        return draft.request();
    }

    /** A recording stands alone, as only its own requests have its hashes. */
    private void checkRecording(LogFormat known, String line) {
        if (!line.startsWith(Recording.BEGINNING)) {
            return;
        }
        if (read > 0 || known.recording() != null) {
            throw new IllegalArgumentException(
                    name + ", line " + lines.number()
                            + ": a recording begins here, after other lines; replay one after the other, each from a file of its own");
        }
        if (!known.isRecording()) {
            throw new IllegalArgumentException(
                    name + " is a recording; leave --format away, or write --format recording");
        }
    }

    private void end() {
        String damage = lines.damage();
        if (damage != null) {
            summary.damaged(name, damage);
        }
        Recording recording = format == null ? null : format.recording();
        if (recording != null && read < recording.requests()) {
            summary.damaged(
                    name,
                    String.format(Locale.ROOT, "it ends after %,d of its %,d requests", read, recording.requests()));
        }
        if (format != null) {
            summary.fields(format.fields());
        } else if (unknown != null) {
            throw unknownFormat(unknown);
        }
        if (!draft.times().allWholeSeconds()) {
            summary.fractions();
        }
    }

    /** Finds out the format, unless the line has none, as it may be the rest of one. */
    private LogFormat open(String line) throws UnreadableLineException {
        String written = options.format() == null ? LogFormats.guess(line) : options.format();
        if (written == null) {
            unknown = unknown == null ? line.substring(0, Math.min(100, line.length())) : unknown;
            if (lines.number() > GUESSES) {
                throw unknownFormat(unknown);
            }
            summary.line();
            throw new UnreadableLineException("it has no known format");
        }
        LogFormat opened = LogFormats.of(written, options.mapping());
        format = opened;
        return opened;
    }

    private IllegalArgumentException unknownFormat(String line) {
        return new IllegalArgumentException("the format of " + name + " is not known; write it, as in --format"
                + " '$remote_addr [$time_local] \"$request\" $status'. The first line is: " + PrintableText.of(line));
    }

    /** Whether it is what an application has recorded. */
    boolean isRecording() {
        return format != null && format.recording() != null;
    }

    /** Whether nothing so far is a line of a known format. */
    boolean isEmpty() {
        return format == null;
    }

    /** The name, for messages. */
    String name() {
        return name;
    }

    /**
     * Checks that there are the fields that were named.
     *
     * @throws IllegalArgumentException if no line so far has one of them
     */
    void checkNames() {
        String missing = format == null ? null : options.mapping().firstNotIn(format.names());
        if (format != null && missing != null) {
            throw new IllegalArgumentException("no line of " + name + " has a field '" + missing + "'; its fields are "
                    + PrintableText.of(String.join(", ", format.names())));
        }
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}
