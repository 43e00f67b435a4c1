package dev.ratelimit.spring.rules.request;

import java.util.Locale;
import java.util.Set;

/** The methods of requests. */
public final class HttpMethods {

    /** All methods except {@code HEAD}, which counts as {@code GET}. */
    public static final Set<String> ALL = Set.of("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE");

    private HttpMethods() {}

    /** The method that selects the handler: {@code GET} for {@code HEAD}. */
    public static String seenAs(String method) {
        String upper = method.toUpperCase(Locale.ROOT);
        return upper.equals("HEAD") ? "GET" : upper;
    }
}
