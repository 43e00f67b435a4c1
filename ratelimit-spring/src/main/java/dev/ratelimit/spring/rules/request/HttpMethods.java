package dev.ratelimit.spring.rules.request;

import java.util.Locale;
import java.util.Set;

/** The methods of requests. */
public final class HttpMethods {

    /** All methods that handlers can be mapped to, except {@code HEAD}, which counts as {@code GET}. */
    public static final Set<String> ALL = Set.of("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE");

    /** A method that only handlers of any method get. */
    private static final String QUERY = "QUERY";

    private HttpMethods() {}

    /** Whether configuration may name the method. */
    public static boolean canBeWritten(String method) {
        String seen = seenAs(method);
        return ALL.contains(seen) || seen.equals(QUERY);
    }

    /** The method that selects the handler: {@code GET} for {@code HEAD}. */
    public static String seenAs(String method) {
        String upper = method.toUpperCase(Locale.ROOT);
        return upper.equals("HEAD") ? "GET" : upper;
    }
}
