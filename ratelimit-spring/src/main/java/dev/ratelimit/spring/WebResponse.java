package dev.ratelimit.spring;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A response that is not committed yet, independent of the web stack. Used by one thread at a time. */
public interface WebResponse {

    /**
     * Sets the status.
     *
     * @param status an HTTP status, such as 429
     */
    void setStatus(int status);

    /**
     * Sets a header, or removes it.
     *
     * @param name case-insensitive
     * @param value replaces all former values; {@code null} removes them
     */
    void setHeader(String name, @Nullable String value);

    /**
     * Writes the whole body in UTF-8. Called once.
     *
     * @param contentType such as {@code application/problem+json}
     * @param body empty for none
     * @throws IOException if the client does not receive it
     */
    void write(String contentType, String body) throws IOException;

    /**
     * Writes the whole body. Called once.
     *
     * @param contentType such as {@code application/problem+json}
     * @param body in UTF-8; it must not change any more
     * @throws IOException if the client does not receive it
     */
    default void write(String contentType, byte[] body) throws IOException {
        write(contentType, new String(body, StandardCharsets.UTF_8));
    }

    /**
     * {@return the response of the web stack; {@code null} if it does not have this type}
     *
     * @param <T> the type
     * @param type such as {@code HttpServletResponse}
     */
    <T> @Nullable T unwrap(Class<T> type);
}
