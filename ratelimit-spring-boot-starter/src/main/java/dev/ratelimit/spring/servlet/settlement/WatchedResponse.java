package dev.ratelimit.spring.servlet.settlement;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A response that tells watchers what becomes of it. */
public final class WatchedResponse extends RedirectingResponse {

    /** Is told what becomes of a response. */
    public interface Watcher {

        /** Whether it is told of writes, which costs something for each of them. */
        default boolean watchesWrites() {
            return false;
        }

        /** Another status is to be set, without a redirect. */
        default void beforeStatus(int status) {}

        /** An error has been sent. */
        default void afterError(int status) {}

        /** A redirect is to be sent. */
        default void beforeRedirect() {}

        /** A redirect has been sent. */
        default void afterRedirect() {}

        /**
         * A write has returned or failed.
         *
         * @param failed whether it failed: the client is gone
         */
        default void written(boolean failed) {}
    }

    /** Something that writes to the response. */
    @FunctionalInterface
    interface Write {
        void run() throws IOException;
    }

    private final List<Watcher> watchers = new ArrayList<>(2);
    private boolean watchesWrites;
    private @Nullable ServletOutputStream stream;
    private @Nullable PrintWriter writer;

    private WatchedResponse(HttpServletResponse response) {
        super(response);
    }

    /** Lets somebody watch a response: it gets one wrapper, whoever watches. To be called before anything is written. */
    public static HttpServletResponse watch(HttpServletResponse response, Watcher watcher) {
        WatchedResponse watched = response instanceof WatchedResponse known ? known : new WatchedResponse(response);
        if (!watched.watchers.contains(watcher)) {
            // an asynchronous dispatch comes with the wrapper of the dispatch before
            watched.watchers.add(watcher);
        }
        watched.watchesWrites |= watcher.watchesWrites();
        return watched;
    }

    /** Writes, and tells the watchers. */
    void write(Write write) throws IOException {
        boolean failed = false;
        try {
            write.run();
        } catch (IOException e) {
            failed = true;
            throw e;
        } finally {
            written(failed);
        }
    }

    /** Tells the watchers of a write. */
    void written(boolean failed) {
        watchers.forEach(watcher -> watcher.written(failed));
    }

    @Override
    public void flushBuffer() throws IOException {
        write(super::flushBuffer);
    }

    @Override
    public ServletOutputStream getOutputStream() throws IOException {
        if (!watchesWrites) {
            return super.getOutputStream();
        }
        if (stream == null) {
            stream = new WatchedStream(super.getOutputStream(), this);
        }
        return stream;
    }

    @Override
    public PrintWriter getWriter() throws IOException {
        if (!watchesWrites) {
            return super.getWriter();
        }
        if (writer == null) {
            writer = new WatchedWriter(super.getWriter(), this);
        }
        return writer;
    }

    /** The next writer may have another charset. */
    @Override
    public void reset() {
        super.reset();
        stream = null;
        writer = null;
    }

    @Override
    public void setStatus(int status) {
        watchers.forEach(watcher -> watcher.beforeStatus(status));
        super.setStatus(status);
    }

    @Override
    public void sendError(int status) throws IOException {
        watchers.forEach(watcher -> watcher.beforeStatus(status));
        super.sendError(status);
        watchers.forEach(watcher -> watcher.afterError(status));
    }

    @Override
    public void sendError(int status, String message) throws IOException {
        watchers.forEach(watcher -> watcher.beforeStatus(status));
        super.sendError(status, message);
        watchers.forEach(watcher -> watcher.afterError(status));
    }

    @Override
    void redirect(Write send) throws IOException {
        watchers.forEach(Watcher::beforeRedirect);
        send.run();
        watchers.forEach(Watcher::afterRedirect);
    }
}
