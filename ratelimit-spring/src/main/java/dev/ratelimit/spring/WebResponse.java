package dev.ratelimit.spring;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A response that is not committed yet, independent of the web stack. Used by one thread at a time. */
public interface WebResponse {

    /** Sets the status. */
    void setStatus(int status);

    /** Sets a header, or removes it if the value is {@code null}. */
    void setHeader(String name, @Nullable String value);

    /** Writes the whole body in UTF-8. Called once. */
    void write(String contentType, String body) throws IOException;

    /** Writes the whole body, which is in UTF-8 and does not change. Called once. */
    default void write(String contentType, byte[] body) throws IOException {
        write(contentType, new String(body, StandardCharsets.UTF_8));
    }

    /**
     * The response of the web stack.
     *
     * @param type such as {@code HttpServletResponse}
     * @return {@code null} if it does not have this type
     */
    <T> @Nullable T unwrap(Class<T> type);
}
