package dev.ratelimit.spring;

import java.security.Principal;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpCookie;
import org.springframework.http.server.PathContainer;

/**
 * A request as rate limits see it, independent of the web stack. Keys, plans and conditions are derived from it.
 * Reading it changes nothing; only {@link #parameters} reads the body. Used by one thread at a time.
 *
 * <p>If a filter of the application wraps the request, this view shows what the wrapper returns; {@link #received} is
 * the request as the server created it.
 */
public interface WebRequest {

    /** The method, such as {@code GET}, as the client wrote it. */
    String method();

    /** The URL without the query, such as {@code https://example.org/app/orders/17}, not decoded. */
    String url();

    /** The parsed path relative to the application's context path, as it is matched against endpoints. */
    PathContainer path();

    /**
     * The path as the server normalized it, without empty segments, dot segments and parameters; {@code null} if it
     * cannot differ from {@link #path}.
     */
    default @Nullable PathContainer normalizedPath() {
        return null;
    }

    /** The query, not decoded; {@code null} if there is none. */
    @Nullable
    String query();

    /** The lines of a header; the name is case-insensitive. Empty if there are none. */
    List<String> headers(String name);

    /** The first line of a header, or {@code null}. */
    default @Nullable String header(String name) {
        List<String> lines = headers(name);
        return lines.isEmpty() ? null : lines.get(0);
    }

    /** The names of all headers. */
    Collection<String> headerNames();

    /** The length of the body in bytes; -1 if unknown. */
    long contentLength();

    /** All cookies. */
    List<HttpCookie> cookies();

    /**
     * The values of a parameter of the query or of a form in the body, which this method reads; empty if there are
     * none.
     *
     * @throws RuntimeException if the body cannot be read; the application then gets the same exception
     */
    List<String> parameters(String name);

    /** The names of all parameters; see {@link #parameters}. */
    Collection<String> parameterNames();

    /** The authenticated principal; {@code null} for anonymous callers and before Spring Security. */
    @Nullable
    Principal principal();

    /** Whether the authenticated principal has this role. */
    boolean hasRole(String role);

    /** The id of the existing session, not the id that the client sends; {@code null} without a session. */
    @Nullable
    String sessionId();

    /** The request attribute of this name, or {@code null}. */
    @Nullable
    Object attribute(String name);

    /** The address of the peer, or the one that a filter replaced it with; {@code null} if there is none. */
    @Nullable
    String remoteAddress();

    /** The request as the server created it, before filters replaced its address and headers. */
    default WebRequest received() {
        return this;
    }

    /**
     * The request of the web stack.
     *
     * @param type such as {@code HttpServletRequest}
     * @return {@code null} if it does not have this type
     */
    <T> @Nullable T unwrap(Class<T> type);
}
