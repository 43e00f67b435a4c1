package dev.ratelimit.spring.servlet.settlement;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;

/** A response that is told of each write. */
abstract class WatchedResponse extends HttpServletResponseWrapper {

    private @Nullable ServletOutputStream stream;
    private @Nullable PrintWriter writer;

    WatchedResponse(HttpServletResponse response) {
        super(response);
    }

    /**
     * A write has returned or failed.
     *
     * @param failed whether it failed: the client is gone
     */
    abstract void written(boolean failed);

    @Override
    public final void flushBuffer() throws IOException {
        WatchedStream.watch(this::written, super::flushBuffer);
    }

    @Override
    public final ServletOutputStream getOutputStream() throws IOException {
        if (stream == null) {
            stream = new WatchedStream(super.getOutputStream(), this::written);
        }
        return stream;
    }

    @Override
    public final PrintWriter getWriter() throws IOException {
        if (writer == null) {
            PrintWriter inside = super.getWriter();
            writer = new PrintWriter(inside) {
                @Override
                public void flush() {
                    // this flushes, too
                    written(inside.checkError());
                }
            };
        }
        return writer;
    }
}
