package dev.ratelimit.spring.autoconfigure;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;

/** A response that reports when a write fails, because the client is gone: some servers then never report its end. */
final class HeldResponse extends HttpServletResponseWrapper {

    private final HeldPermits permits;
    private @Nullable ServletOutputStream stream;
    private @Nullable PrintWriter writer;

    HeldResponse(HttpServletResponse response, HeldPermits permits) {
        super(response);
        this.permits = permits;
    }

    private void written(boolean failed) {
        if (failed) {
            permits.loseClient();
        }
    }

    @Override
    public void flushBuffer() throws IOException {
        WatchedStream.watch(this::written, super::flushBuffer);
    }

    @Override
    public ServletOutputStream getOutputStream() throws IOException {
        if (stream == null) {
            stream = new WatchedStream(super.getOutputStream(), this::written);
        }
        return stream;
    }

    @Override
    public PrintWriter getWriter() throws IOException {
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
