package dev.ratelimit.spring.servlet.settlement;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The body of a response, which tells the watchers of each write. */
final class WatchedStream extends ServletOutputStream {

    private final ServletOutputStream stream;
    private final WatchedResponse response;

    WatchedStream(ServletOutputStream stream, WatchedResponse response) {
        this.stream = stream;
        this.response = response;
    }

    @Override
    public boolean isReady() {
        return stream.isReady();
    }

    @Override
    public void setWriteListener(WriteListener listener) {
        stream.setWriteListener(listener);
    }

    @Override
    public void write(int b) throws IOException {
        response.write(() -> stream.write(b));
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
        response.write(() -> stream.write(bytes, from, length));
    }

    /** Overrides what Servlet 6.1 has added, and copies, so that it can also be compiled with Servlet 6.0. */
    @SuppressWarnings("MissingOverride")
    public void write(ByteBuffer buffer) throws IOException {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        write(bytes);
    }

    @Override
    public void flush() throws IOException {
        response.write(stream::flush);
    }

    @Override
    public void close() throws IOException {
        response.write(stream::close);
    }
}
