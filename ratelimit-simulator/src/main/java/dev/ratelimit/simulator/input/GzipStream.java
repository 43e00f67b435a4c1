package dev.ratelimit.simulator.input;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Reads a file of gzip with any number of members (RFC 1952), as rotated logs that were appended to each other have them.
 * Unlike {@link GZIPInputStream} alone, it does not take a member that cannot be read for the end. Not thread-safe.
 */
public final class GzipStream extends InputStream {

    private static final int BUFFER = 1 << 16;
    private static final int TRAILER = 8;

    private Members members;
    private boolean ended;

    /** Members, up to the first one that cannot be read. */
    private static final class Members extends GZIPInputStream {

        Members(InputStream in) throws IOException {
            super(in, BUFFER);
        }

        /** What of the file was not read. */
        InputStream rest() {
            int left = Math.max(0, inf.getRemaining() - TRAILER);
            return new SequenceInputStream(new ByteArrayInputStream(buf, len - left, left), in);
        }
    }

    /**
     * Begins to read.
     *
     * @throws EOFException if there is no whole header
     * @throws ZipException if it is no header
     */
    public GzipStream(InputStream in) throws IOException {
        this.members = new Members(in);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int at, int length) throws IOException {
        int count = members.read(bytes, at, length);
        while (count < 0 && goOn()) {
            count = members.read(bytes, at, length);
        }
        return count;
    }

    /** Begins the next member, if there is one; zeros may fill up the file. */
    private boolean goOn() throws IOException {
        if (ended) {
            return false;
        }
        InputStream rest = members.rest();
        int next = rest.read();
        while (next == 0) {
            next = rest.read();
        }
        ended = next < 0;
        if (ended) {
            return false;
        }
        if (next != (GZIPInputStream.GZIP_MAGIC & 0xff)) {
            throw new ZipException("there is something else after a member");
        }
        members = new Members(new SequenceInputStream(new ByteArrayInputStream(new byte[] {(byte) next}), rest));
        return true;
    }

    @Override
    public void close() throws IOException {
        members.close();
    }
}
