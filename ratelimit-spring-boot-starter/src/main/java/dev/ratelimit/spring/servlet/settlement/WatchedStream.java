package dev.ratelimit.spring.servlet.settlement;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The body of a response, which reports after each write whether it has failed. */
final class WatchedStream extends ServletOutputStream {

    /** Somebody who is told of writes. */
    @FunctionalInterface
    interface Watcher {

        /**
         * A write has returned or failed.
         *
         * @param failed whether it failed: the client is gone
         */
        void written(boolean failed);
    }

    /** A write to the response. */
    @FunctionalInterface
    interface Write {
        void run() throws IOException;
    }

    private final ServletOutputStream stream;
    private final Watcher watcher;

    WatchedStream(ServletOutputStream stream, Watcher watcher) {
        this.stream = stream;
        this.watcher = watcher;
    }

    /** Writes, and tells the watcher. */
    static void watch(Watcher watcher, Write write) throws IOException {
        boolean failed = false;
        try {
            write.run();
        } catch (IOException e) {
            failed = true;
            throw e;
        } finally {
            watcher.written(failed);
        }
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
        watch(watcher, () -> stream.write(b));
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
        watch(watcher, () -> stream.write(bytes, from, length));
    }

    @Override
    public void write(ByteBuffer buffer) throws IOException {
        watch(watcher, () -> stream.write(buffer));
    }

    @Override
    public void flush() throws IOException {
        watch(watcher, stream::flush);
    }

    @Override
    public void close() throws IOException {
        watch(watcher, stream::close);
    }
}
