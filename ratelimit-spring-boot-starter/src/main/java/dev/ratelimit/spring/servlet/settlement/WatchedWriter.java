package dev.ratelimit.spring.servlet.settlement;

import java.io.PrintWriter;

/** The text of a response, which tells the watchers of each write. */
final class WatchedWriter extends PrintWriter {

    private final PrintWriter writer;
    private final WatchedResponse response;

    /** How many characters were written since the writer was asked whether it has failed. */
    private int unasked;

    WatchedWriter(PrintWriter writer, WatchedResponse response) {
        super(writer);
        this.writer = writer;
        this.response = response;
    }

    @Override
    public void write(int c) {
        writer.write(c);
        wrote(1);
    }

    @Override
    public void write(char[] text, int from, int length) {
        writer.write(text, from, length);
        wrote(length);
    }

    @Override
    public void write(String text, int from, int length) {
        writer.write(text, from, length);
        wrote(length);
    }

    /** Asks the writer only after a whole buffer, because that flushes it. */
    private void wrote(int length) {
        unasked += length;
        if (unasked > response.getBufferSize() && response.isCommitted()) {
            flush();
        } else {
            response.written(false);
        }
    }

    @Override
    public void flush() {
        unasked = 0;
        // this flushes, too
        response.written(writer.checkError());
    }

    @Override
    public void close() {
        writer.close();
        response.written(false);
    }
}
