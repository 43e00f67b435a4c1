package dev.ratelimit.simulator.endpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/** Reads the endpoints of an application. */
public final class KnownEndpoints {

    private static final Set<String> METHODS =
            Set.of("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY");

    private KnownEndpoints() {}

    /**
     * Reads a list with one endpoint a line: methods, separated by commas, and a pattern, such as {@code GET
     * /orders/{id}}; or a pattern alone. Lines that start with {@code #} are comments.
     *
     * @throws IllegalArgumentException at the first line that is no endpoint
     */
    public static List<LogEndpoints.Route> list(Path file) throws IOException {
        List<LogEndpoints.Route> routes = new ArrayList<>();
        List<String> lines = Files.readAllLines(file);
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            String[] parts = line.split("\\s+", 2);
            String where = file + ", line " + (i + 1);
            routes.add(
                    parts.length == 1
                            ? route(where, List.of(), parts[0])
                            : route(where, List.of(parts[0].split(",")), parts[1]));
        }
        return routes;
    }

    private static LogEndpoints.Route route(String where, List<String> methods, String pattern) {
        Set<String> upper = new TreeSet<>();
        for (String method : methods) {
            upper.add(method.toUpperCase(Locale.ROOT));
        }
        if (!METHODS.containsAll(upper) || !pattern.startsWith("/")) {
            throw new IllegalArgumentException(where + ": '" + String.join(",", methods) + " " + pattern
                    + "' is no endpoint; write methods and a pattern, such as GET /orders/{id}");
        }
        try {
            return new LogEndpoints.Route(upper, PathPatternParser.defaultInstance.parse(pattern));
        } catch (PatternParseException e) {
            throw new IllegalArgumentException(where + ": '" + pattern + "' is no pattern: " + e.getMessage(), e);
        }
    }
}
