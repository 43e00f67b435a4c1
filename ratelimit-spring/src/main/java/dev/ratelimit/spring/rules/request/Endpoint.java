package dev.ratelimit.spring.rules.request;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;

/**
 * The destination of requests: the methods and the path pattern of a handler, whatever the path of the request. Two
 * handlers are two endpoints, even with the same methods and pattern. The id identifies their budgets. Immutable.
 */
public final class Endpoint {

    /** All paths without a handler. */
    public static final Endpoint NOWHERE = new Endpoint("nowhere", null, false);

    /** All handlers without a pattern: static files, view controllers, other servlets. */
    public static final Endpoint UNMAPPED = new Endpoint("unmapped", null, false);

    private final String id;
    private final @Nullable PathPattern pattern;
    private final boolean management;

    /** The key of a budget for each endpoint. */
    private final String key;

    private Endpoint(String id, @Nullable PathPattern pattern, boolean management) {
        this.id = id;
        this.pattern = pattern;
        this.management = management;
        KeyEncoder encoder = new KeyEncoder(false, 0, 0);
        appendTo(encoder);
        this.key = encoder.toString();
    }

    /**
     * The endpoint of a handler.
     *
     * @param methods such as {@code GET}, without {@code HEAD}; empty for all methods
     */
    public static Endpoint of(List<String> methods, PathPattern pattern) {
        return of(methods, pattern.getPatternString(), pattern);
    }

    /**
     * The endpoint of a handler.
     *
     * @param methods such as {@code GET}, without {@code HEAD}; empty for all methods
     * @param written the pattern as it is written, which an {@code AntPathMatcher} may have read
     * @param pattern of its paths, and perhaps of others
     */
    public static Endpoint of(List<String> methods, String written, PathPattern pattern) {
        return new Endpoint(id(methods, written), pattern, false);
    }

    /**
     * An endpoint that serves the operators of the application, such as its health.
     *
     * @param methods such as {@code GET}, without {@code HEAD}; empty for all methods
     */
    public static Endpoint ofManagement(List<String> methods, PathPattern pattern) {
        return new Endpoint(id(methods, pattern.getPatternString()), pattern, true);
    }

    private static String id(List<String> methods, String pattern) {
        return (methods.isEmpty() ? "ANY" : String.join(",", methods)) + " " + pattern;
    }

    /** A method that is not called by a request. */
    public static Endpoint ofMethod(String id) {
        return new Endpoint(id, null, false);
    }

    /**
     * The method in the names of endpoints: {@code GET} for {@code HEAD}, {@code ANY} for methods that clients invent.
     */
    public static String methodOf(String method) {
        String seen = HttpMethods.seenAs(method);
        return HttpMethods.ALL.contains(seen) ? seen : "ANY";
    }

    /** The name that identifies the budgets of the endpoint, such as {@code GET /orders/{id}}. */
    public String id() {
        return id;
    }

    /** The pattern of its paths; {@code null} if it has none. */
    public @Nullable PathPattern pattern() {
        return pattern;
    }

    /** Whether it serves the operators of the application. */
    public boolean isManagement() {
        return management;
    }

    /** Whether a handler answers requests of this method here, as far as that is known. */
    public boolean answers(String method) {
        return pattern == null ? this != NOWHERE : names("ANY") || names(methodOf(method));
    }

    /** Whether its name has this method, as {@link #methodOf} writes it. */
    public boolean names(String method) {
        int end = Math.max(0, id.indexOf(' '));
        return List.of(id.substring(0, end).split(",", -1)).contains(method);
    }

    /** The key of which it is the only part. */
    public String key() {
        return key;
    }

    /** Appends its id to a key. */
    public void appendTo(KeyEncoder encoder) {
        encoder.append('e', id);
    }

    /** The values of the variables in the path. */
    Map<String, String> variables(PathContainer path) {
        PathPattern.PathMatchInfo match = pattern == null ? null : pattern.matchAndExtract(path);
        return match == null ? Map.of() : match.getUriVariables();
    }

    /** The id. */
    @Override
    public String toString() {
        return id;
    }
}
