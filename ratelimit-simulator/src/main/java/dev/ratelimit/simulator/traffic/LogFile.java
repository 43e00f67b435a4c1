package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.input.GzipStream;
import dev.ratelimit.simulator.input.LineReader;
import dev.ratelimit.simulator.recording.Recording;
import dev.ratelimit.simulator.text.PrintableText;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
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
        while (!ended && lines.next()) {
            if (lines.isTooLong()) {
                summary.line();
                summary.malformed(where(), "it is longer than 1 MiB");
                continue;
            }
            if (lines.from() == lines.to()) {
                continue;
            }
            LogFormat lineFormat = format == null ? open() : format;
            if (lineFormat == null) {
                summary.line();
                summary.malformed(where(), "it has no known format");
                continue;
            }
            checkRecording(lineFormat);
            if (lineFormat.isHeading(lines.bytes(), lines.from(), lines.to())) {
                continue;
            }
            summary.line();
            read++;
            draft.clear();
            lineFormat.read(lines.bytes(), lines.from(), lines.to(), draft);
            String mistake = draft.mistake();
            if (mistake == null) {
                return draft.request();
            }
            summary.malformed(where(), mistake);
        }
        end();
        return null;
    }

    /** A recording stands alone, as only its own requests have its hashes. */
    private void checkRecording(LogFormat lineFormat) {
        if (!JsonFormat.isBeginning(lines.bytes(), lines.from(), lines.to())) {
            return;
        }
        if (read > 0 || lineFormat.recording() != null) {
            throw new IllegalArgumentException(
                    where()
                            + ": a recording begins here, after other lines; replay one after the other, each from a file of its own");
        }
        if (!lineFormat.mayHaveRecording()) {
            throw new IllegalArgumentException(
                    name + " is a recording; leave --format away, or write --format recording");
        }
    }

    private String where() {
        return name + ", line " + lines.number();
    }

    private void end() {
        String damage = lines.damage();
        if (damage != null && !ended) {
            summary.damaged(name, damage);
        }
        Recording recording = format == null ? null : format.recording();
        if (recording != null && read < recording.requests() && !ended) {
            summary.damaged(
                    name,
                    String.format(Locale.ROOT, "it ends after %,d of its %,d requests", read, recording.requests()));
        }
        ended = true;
        if (format == null && unknown != null) {
            throw unknownFormat(unknown);
        }
    }

    /** Finds out the format; {@code null} if the line has none, as it may be the rest of one. */
    private @Nullable LogFormat open() {
        String written = options.format();
        if (written == null) {
            written = LogFormats.guess(lines.bytes(), lines.from(), lines.to());
            if (written == null) {
                String line = new String(
                        lines.bytes(), lines.from(), Math.min(100, lines.to() - lines.from()), StandardCharsets.UTF_8);
                unknown = unknown == null ? line : unknown;
                if (lines.number() > GUESSES) {
                    throw unknownFormat(unknown);
                }
                return null;
            }
        }
        LogFormat opened = LogFormats.of(written, options.mapping());
        format = opened;
        summary.format(written);
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

    /** Tells what the lines so far have. */
    void describe() {
        if (format != null) {
            summary.fields(format.fields());
            summary.recording(format.recording());
        }
    }

    /** Whether later lines may have fields that those so far do not have. */
    boolean mayHaveOtherFields() {
        return format != null && format.mayHaveOtherFields();
    }

    /** Whether no line so far has a field that was named. */
    boolean lacksNames() {
        return format != null && options.mapping().firstNotIn(format.names()) != null;
    }

    /**
     * Checks that there are the fields that were named.
     *
     * @throws IllegalArgumentException if no line so far has one of them
     */
    void checkNames() {
        String missing = format == null ? null : options.mapping().firstNotIn(format.names());
        if (format != null && missing != null) {
            throw new IllegalArgumentException("no line of " + name + " so far has a field '" + missing
                    + "'; its fields are " + PrintableText.of(String.join(", ", format.names())));
        }
    }

    /** Tells how exact the times so far are. */
    void times(LogSummary to) {
        if (!draft.times().allWholeSeconds()) {
            to.fractions();
        }
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}
