package dev.ratelimit.spring;

import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Which requests a rule is for, by method and path; paths as Spring MVC sees them, decoded and without parameters.
 *
 * <p>Errs on the side of limiting: patterns of {@code paths} match in any case, those of {@code exceptPaths} only as
 * written; methods match in any case, and {@code HEAD} is a {@code GET}. Immutable.
 */
public final class RuleMatch {

    /** Only requests to endpoints whose annotation names the policy. */
    public static final RuleMatch ANNOTATED = new RuleMatch(List.of(), List.of(), List.of(), true);

    /** The methods there are, but for {@code HEAD}, which counts as {@code GET}. */
    public static final Set<String> METHODS = Set.of("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE");

    private final List<PathPattern> paths;
    private final List<PathPattern> exceptPaths;
    private final Set<String> methods;
    private final boolean annotated;

    /**
     * Requests of these methods to these paths; all where a list is empty.
     *
     * @param annotated whether only endpoints match whose annotation names the policy
     * @throws IllegalArgumentException when a pattern cannot be read; the message points at the place
     */
    public RuleMatch(List<String> paths, List<String> exceptPaths, List<String> methods, boolean annotated) {
        this.paths = patterns(paths, false);
        this.exceptPaths = patterns(exceptPaths, true);
        this.methods = new TreeSet<>();
        methods.forEach(method -> this.methods.add(methodOf(method.strip())));
        this.annotated = annotated;
    }

    /** Whether only endpoints match whose annotation names the policy. */
    public boolean annotated() {
        return annotated;
    }

    boolean matches(HttpServletRequest request, PathContainer path) {
        return !annotated
                && (methods.isEmpty() || methods.contains(methodOf(request.getMethod())))
                && (paths.isEmpty() || matchesAny(paths, path))
                && !matchesAny(exceptPaths, path);
    }

    /** The method that handlers see: {@code HEAD} is answered by those for {@code GET}. */
    public static String methodOf(String method) {
        String upper = method.toUpperCase(Locale.ROOT);
        return upper.equals("HEAD") ? "GET" : upper;
    }

    private static boolean matchesAny(List<PathPattern> patterns, PathContainer path) {
        for (PathPattern pattern : patterns) {
            if (pattern.matches(path)) {
                return true;
            }
        }
        return false;
    }

    private static List<PathPattern> patterns(List<String> texts, boolean caseSensitive) {
        PathPatternParser parser = new PathPatternParser();
        parser.setCaseSensitive(caseSensitive);
        List<PathPattern> patterns = new ArrayList<>();
        for (String text : texts) {
            String pattern = text.strip();
            if (!pattern.startsWith("/")) {
                throw new IllegalArgumentException("'" + pattern + "' must start with '/'");
            }
            patterns.add(parser.parse(pattern));
        }
        return List.copyOf(patterns);
    }

    /** For people: {@code on GET /api/**}. */
    @Override
    public String toString() {
        if (annotated) {
            return "where annotated";
        }
        String which = methods.isEmpty() ? "" : String.join(",", methods) + " ";
        String where = paths.isEmpty() ? "all paths" : join(paths);
        return "on " + which + where + (exceptPaths.isEmpty() ? "" : " except " + join(exceptPaths));
    }

    private static String join(List<PathPattern> patterns) {
        return String.join(
                ", ", patterns.stream().map(PathPattern::getPatternString).toList());
    }
}
