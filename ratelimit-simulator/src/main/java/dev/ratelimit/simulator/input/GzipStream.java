package dev.ratelimit.simulator.input;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/**
 * Reads a file of gzip with any number of members (RFC 1952), as rotated logs that were appended to each other have them.
 * Unlike {@link java.util.zip.GZIPInputStream}, it does not take a member that cannot be read for the end. Not
 * thread-safe.
 */
public final class GzipStream extends InputStream {

    private static final int FLAG_CRC = 2;
    private static final int FLAG_EXTRA = 4;
    private static final int FLAG_NAME = 8;
    private static final int FLAG_COMMENT = 16;
    private static final int DEFLATE = 8;

    private final InputStream in;
    private final Inflater inflater = new Inflater(true);
    private final CRC32 checksum = new CRC32();
    private final byte[] buffer = new byte[1 << 16];
    private int from;
    private int to;
    private boolean ended;

    /**
     * Begins to read.
     *
     * @throws EOFException if there is no whole header
     * @throws ZipException if it is no header
     */
    public GzipStream(InputStream in) throws IOException {
        this.in = in;
        header(required());
    }

    /** The next byte of the file; -1 at its end. */
    private int next() throws IOException {
        return from < to || fill() ? buffer[from++] & 0xff : -1;
    }

    private boolean fill() throws IOException {
        from = 0;
        to = Math.max(0, in.read(buffer, 0, buffer.length));
        return to > 0;
    }

    private int required() throws IOException {
        int next = next();
        if (next < 0) {
            throw new EOFException("the file ends within a member");
        }
        return next;
    }

    private long required(int bytes) throws IOException {
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value |= (long) required() << (8 * i);
        }
        return value;
    }

    private void header(int first) throws IOException {
        if (first != 0x1f || required() != 0x8b) {
            throw new ZipException("there is something else after a member");
        }
        int method = required();
        if (method != DEFLATE) {
            throw new ZipException("the compression method " + method + " is not known");
        }
        int flags = required();
        long unused = required(6);
        if ((flags & FLAG_EXTRA) != 0) {
            for (long rest = required(2); rest > 0; rest--) {
                required();
            }
        }
        if ((flags & FLAG_NAME) != 0) {
            skipText();
        }
        if ((flags & FLAG_COMMENT) != 0) {
            skipText();
        }
        if ((flags & FLAG_CRC) != 0) {
            unused = required(2);
        }
        inflater.reset();
        checksum.reset();
    }

    private void skipText() throws IOException {
        for (int next = required(); next != 0; next = required()) {
            // the name of the file, or a comment
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int at, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        while (!ended) {
            int count = inflate(bytes, at, length);
            if (count > 0) {
                checksum.update(bytes, at, count);
                return count;
            }
            if (inflater.finished()) {
                endMember();
            } else if (inflater.needsDictionary()) {
                throw new ZipException("it needs a dictionary");
            } else if (from == to && !fill()) {
                throw new EOFException("the file ends within a member");
            } else {
                inflater.setInput(buffer, from, to - from);
                from = to;
            }
        }
        return -1;
    }

    private int inflate(byte[] bytes, int at, int length) throws ZipException {
        try {
            return inflater.inflate(bytes, at, length);
        } catch (DataFormatException e) {
            throw new ZipException(String.valueOf(e.getMessage()));
        }
    }

    /** Checks the member that ends here, and begins the next one, if there is one; zeros may fill up the file. */
    private void endMember() throws IOException {
        from = to - inflater.getRemaining();
        if (required(4) != checksum.getValue() || required(4) != (inflater.getBytesWritten() & 0xffff_ffffL)) {
            throw new ZipException("the checksum of a member is wrong");
        }
        int next = next();
        while (next == 0) {
            next = next();
        }
        if (next < 0) {
            ended = true;
        } else {
            header(next);
        }
    }

    @Override
    public void close() throws IOException {
        inflater.end();
        in.close();
    }
}
