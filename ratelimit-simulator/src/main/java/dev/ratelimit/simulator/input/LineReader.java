package dev.ratelimit.simulator.traffic;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/** Reads lines as bytes, without copying them. Not thread-safe. */
final class LineReader implements AutoCloseable {

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
    private long number;
    private @Nullable String damage;

    LineReader(InputStream in) {
        this.in = in;
    }

    /** The bytes of which {@link #from} to {@link #to} are the line. */
    byte[] bytes() {
        return buffer;
    }

    int from() {
        return from;
    }

    int to() {
        return to;
    }

    /** The number of the line, from 1. */
    long number() {
        return number;
    }

    /** Why the input ended before its end; {@code null} if it did not. */
    @Nullable
    String damage() {
        return damage;
    }

    /** Reads the next line; returns whether there is one. */
    boolean next() throws IOException {
        int scanned = next;
        while (true) {
            for (; scanned < limit; scanned++) {
                if (buffer[scanned] == '\n') {
                    return line(scanned, scanned + 1);
                }
            }
            if (ended || limit - next > MAX_LINE) {
                return next < limit && line(limit, limit);
            }
            int kept = limit - next;
            fill();
            scanned = next + kept;
        }
    }

    private boolean line(int end, int following) {
        from = next;
        to = end > from && buffer[end - 1] == '\r' ? end - 1 : end;
        next = following;
        number++;
        return true;
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
