package dev.ratelimit.simulator.input;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/** Reads lines of bounded length, without a byte order mark before the first. Not thread-safe. */
public final class LineReader implements AutoCloseable {

    /** Longer lines are not of a log. */
    private static final int MAX_LINE = 1 << 20;

    private final InputStream in;
    private final byte[] chunk = new byte[1 << 16];
    private int at;
    private int limit;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private boolean tooLong;
    private long number;
    private @Nullable String damage;

    /** Reads lines from here. */
    public LineReader(InputStream in) {
        this.in = in;
    }

    /** The number of the line that was read last, from 1. */
    public long number() {
        return number;
    }

    /** Whether the line that was read last is longer than 1 MiB, so that its end was not kept. */
    public boolean isTooLong() {
        return tooLong;
    }

    /** Why the input ended before its end; {@code null} if it did not. */
    public @Nullable String damage() {
        return damage;
    }

    /** The next line; {@code null} if there are no more. */
    public @Nullable String next() throws IOException {
        if (at == limit && !fill()) {
            return null;
        }
        line.reset();
        tooLong = false;
        number++;
        do {
            int end = at;
            while (end < limit && chunk[end] != '\n') {
                end++;
            }
            tooLong |= line.size() + end - at > MAX_LINE;
            if (!tooLong) {
                line.write(chunk, at, end - at);
            }
            at = end + 1;
        } while (at > limit && fill());
        return text();
    }

    private String text() {
        String text = line.toString(StandardCharsets.UTF_8);
        int from = number == 1 && text.startsWith("\ufeff") ? 1 : 0;
        int to = text.length() > from && text.endsWith("\r") ? text.length() - 1 : text.length();
        return text.substring(from, to);
    }

    private boolean fill() throws IOException {
        at = 0;
        limit = Math.max(0, read());
        return limit > 0;
    }

    private int read() throws IOException {
        try {
            return damage == null ? in.read(chunk) : -1;
        } catch (EOFException | ZipException e) {
            damage = e instanceof EOFException ? "it is truncated" : "it is damaged (" + e.getMessage() + ")";
            return -1;
        }
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
