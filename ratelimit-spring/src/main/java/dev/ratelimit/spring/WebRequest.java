package dev.ratelimit.spring;

import java.security.Principal;
import java.util.Collection;
import java.util.List;
import java.util.Map;
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

    /** {@return the method, such as {@code GET}, as the client wrote it} */
    String method();

    /** {@return the URL without the query, such as {@code https://example.org/app/orders/17}, not decoded} */
    String url();

    /** {@return the parsed path relative to the application's context path, as it is matched against endpoints} */
    PathContainer path();

    /**
     * {@return the path as the server normalized it, without empty segments, dot segments and parameters; {@code null}
     * if it cannot differ from {@link #path}}
     */
    default @Nullable PathContainer normalizedPath() {
        return null;
    }

    /** {@return the query, not decoded; {@code null} if there is none} */
    @Nullable
    String query();

    /**
     * {@return the lines of a header; empty if there are none}
     *
     * @param name case-insensitive
     */
    List<String> headers(String name);

    /**
     * {@return the first line of a header, or {@code null}}
     *
     * @param name case-insensitive
     */
    default @Nullable String header(String name) {
        List<String> lines = headers(name);
        return lines.isEmpty() ? null : lines.get(0);
    }

    /** {@return the names of all headers} */
    Collection<String> headerNames();

    /** {@return the length of the body in bytes; -1 if unknown} */
    long contentLength();

    /** {@return all cookies} */
    List<HttpCookie> cookies();

    /**
     * {@return the values of a parameter of the query or of a form in the body, which this method reads; empty if there
     * are none}
     *
     * @param name case-sensitive
     * @throws RuntimeException if the body cannot be read; the application then gets the same exception
     */
    List<String> parameters(String name);

    /**
     * {@return the names of all parameters} Reads the body as {@link #parameters} does.
     *
     * @throws RuntimeException if the body cannot be read
     */
    Collection<String> parameterNames();

    /** {@return the authenticated principal; {@code null} for anonymous callers and before Spring Security} */
    @Nullable
    Principal principal();

    /**
     * {@return whether the authenticated principal has this role}
     *
     * @param role such as {@code ADMIN}, as the web stack's check of roles takes it
     */
    boolean hasRole(String role);

    /** {@return the id of the existing session, not the id that the client sends; {@code null} without a session} */
    @Nullable
    String sessionId();

    /**
     * {@return the request attribute of this name, or {@code null}}
     *
     * @param name case-sensitive
     */
    @Nullable
    Object attribute(String name);

    /** {@return the address of the peer, or the one that a filter replaced it with; {@code null} if there is none} */
    @Nullable
    String remoteAddress();

    /**
     * {@return the id of the route that serves the request, such as one of a gateway; {@code null} if there is none, or
     * if it is not known yet}
     */
    default @Nullable String route() {
        return null;
    }

    /**
     * {@return what resolvers have said about the request before, by the names of their beans; {@code null} where they
     * found nothing} The web stack asks those that must not be waited for. A bean that is not in it is asked when its
     * value is needed.
     */
    default Map<String, @Nullable String> resolved() {
        return Map.of();
    }

    /** {@return the request as the server created it, before filters replaced its address and headers} */
    default WebRequest received() {
        return this;
    }

    /**
     * {@return the request of the web stack; {@code null} if it does not have this type}
     *
     * @param <T> the type
     * @param type such as {@code HttpServletRequest}
     */
    <T> @Nullable T unwrap(Class<T> type);
}
