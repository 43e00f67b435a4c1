package dev.ratelimit.spring.boot.actuate;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.stream.Stream;

/** Lines as bytes, each of which is made when it is read. Not thread-safe. */
final class LineStream extends InputStream {

    private final Iterator<String> lines;
    private byte[] line = {};
    private int at;

    private LineStream(Iterator<String> lines) {
        this.lines = lines;
    }

    static InputStream of(Stream<String> lines) {
        return new LineStream(lines.iterator());
    }

    private boolean isAtEnd() {
        if (at == line.length && lines.hasNext()) {
            line = (lines.next() + "\n").getBytes(StandardCharsets.UTF_8);
            at = 0;
        }
        return at == line.length;
    }

    @Override
    public int read() {
        return isAtEnd() ? -1 : line[at++] & 0xff;
    }

    @Override
    public int read(byte[] to, int from, int length) {
        if (length == 0) {
            return 0;
        }
        if (isAtEnd()) {
            return -1;
        }
        int count = Math.min(length, line.length - at);
        System.arraycopy(line, at, to, from, count);
        at += count;
        return count;
    }
}
