package dev.ratelimit.simulator.input;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/** Reads lines as bytes, without copying them, and without a byte order mark before the first. Not thread-safe. */
public final class LineReader implements AutoCloseable {

    private static final int CHUNK = 1 << 16;

    /** Longer lines are not of a log. */
    private static final int MAX_LINE = 1 << 20;

    private final InputStream in;
    private byte[] buffer = new byte[CHUNK];
    private int from;
    private int to;
    private int next;
    private int limit;
    private boolean ended;

    /** Whether the line is longer than any of a log. */
    private boolean tooLong;

    private long number;
    private @Nullable String damage;

    /** Reads lines from here. */
    public LineReader(InputStream in) {
        this.in = in;
    }

    /** The bytes of which {@link #from} to {@link #to} are the line. */
    public byte[] bytes() {
        return buffer;
    }

    /** Where the line begins. */
    public int from() {
        return from;
    }

    /** Where it ends. */
    public int to() {
        return to;
    }

    /** The number of the line, from 1. */
    public long number() {
        return number;
    }

    /** Whether the line is longer than 1 MiB, so that it was not kept. */
    public boolean isTooLong() {
        return tooLong;
    }

    /** Why the input ended before its end; {@code null} if it did not. */
    public @Nullable String damage() {
        return damage;
    }

    /** Reads the next line; returns whether there is one. */
    public boolean next() throws IOException {
        int scanned = next;
        while (true) {
            for (; scanned < limit; scanned++) {
                if (buffer[scanned] == '\n') {
                    return line(scanned, scanned + 1);
                }
            }
            if (ended) {
                return next < limit && line(limit, limit);
            }
            if (limit - next > MAX_LINE) {
                skip();
                return true;
            }
            int kept = limit - next;
            fill();
            scanned = next + kept;
        }
    }

    /** Reads over the rest of a line that is too long. */
    private void skip() throws IOException {
        do {
            next = limit;
            fill();
            while (next < limit && buffer[next] != '\n') {
                next++;
            }
        } while (next == limit && !ended);
        next = Math.min(limit, next + 1);
        from = next;
        to = next;
        tooLong = true;
        number++;
    }

    private boolean line(int end, int following) {
        tooLong = end - next > MAX_LINE;
        from = number == 0 && beginsWithMark(end) ? next + 3 : next;
        to = end > from && buffer[end - 1] == '\r' ? end - 1 : end;
        next = following;
        number++;
        return true;
    }

    /** Whether the line begins with a byte order mark, as some editors write it. */
    private boolean beginsWithMark(int end) {
        return end - next >= 3
                && buffer[next] == (byte) 0xef
                && buffer[next + 1] == (byte) 0xbb
                && buffer[next + 2] == (byte) 0xbf;
    }

    private void fill() throws IOException {
        if (next > 0) {
            System.arraycopy(buffer, next, buffer, 0, limit - next);
            limit -= next;
            next = 0;
        }
        if (limit == buffer.length) {
            buffer = Arrays.copyOf(buffer, buffer.length * 2);
        }
        int read = read();
        ended = read < 0;
        limit += Math.max(0, read);
    }

    private int read() throws IOException {
        try {
            return in.read(buffer, limit, buffer.length - limit);
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
