package dev.ratelimit.simulator.traffic;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Requests in the order of their times. Not thread-safe. */
public interface LogSource extends AutoCloseable {

    /**
     * The next request; {@code null} if there are no more.
     *
     * @throws IOException if the log cannot be read
     */
    @Nullable
    LoggedRequest next() throws IOException;

    /** What has been read so far. */
    LogSummary summary();

    @Override
    void close() throws IOException;
}
