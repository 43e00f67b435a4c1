package dev.ratelimit.spring.rules.path;

import java.util.ArrayList;
import java.util.List;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPatternParser;

/** Finds out from the texts of two path patterns whether there are paths that both match. In doubt, there are. */
public final class PathOverlap {

    private final boolean caseSensitive;
    private final PathPatternParser parser = new PathPatternParser();

    /** Compares patterns with or without regard to case. */
    public PathOverlap(boolean caseSensitive) {
        this.caseSensitive = caseSensitive;
        parser.setCaseSensitive(caseSensitive);
    }

    /** Whether a path may match both patterns. */
    public boolean exists(String one, String other) {
        return exists(segments(one), 0, segments(other), 0);
    }

    /** The segments of a pattern; none for the root. Slashes in braces do not separate. */
    static List<String> segments(String pattern) {
        List<String> segments = new ArrayList<>();
        int depth = 0;
        int from = pattern.startsWith("/") ? 1 : 0;
        for (int i = from; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            if (c == '/' && depth == 0) {
                segments.add(pattern.substring(from, i));
                from = i + 1;
            } else if (c == '{') {
                depth++;
            } else if (c == '}') {
                depth--;
            }
        }
        if (pattern.length() > 1) {
            segments.add(pattern.substring(from));
        }
        return segments;
    }

    private boolean exists(List<String> one, int i, List<String> other, int j) {
        if (i == one.size() && j == other.size()) {
            return true;
        }
        if (i < one.size() && isDeep(one.get(i))) {
            return exists(one, i + 1, other, j) || (j < other.size() && exists(one, i, other, j + 1));
        }
        if (j < other.size() && isDeep(other.get(j))) {
            return exists(other, j, one, i);
        }
        return i < one.size()
                && j < other.size()
                && ofSegments(one.get(i), other.get(j))
                && exists(one, i + 1, other, j + 1);
    }

    /** Whether it matches several segments or none. */
    private static boolean isDeep(String segment) {
        return segment.equals("**") || segment.startsWith("{*");
    }

    /** Whether the segment has neither wildcards nor variables. */
    private static boolean isLiteral(String segment) {
        return segment.chars().noneMatch(c -> c == '{' || c == '*' || c == '?');
    }

    /** Whether a segment of a path may match both segments. */
    boolean ofSegments(String one, String other) {
        if (isLiteral(other)) {
            return isLiteral(one) ? areEqual(one, other) : matches(one, other);
        }
        return !isLiteral(one) || matches(other, one);
    }

    private boolean areEqual(String one, String other) {
        return caseSensitive ? one.equals(other) : one.equalsIgnoreCase(other);
    }

    private boolean matches(String pattern, String segment) {
        String encoded = segment.replace("%", "%25").replace(";", "%3B");
        try {
            return parser.parse("/" + pattern).matches(PathContainer.parsePath("/" + encoded));
        } catch (IllegalArgumentException e) {
            // a pattern of AntPathMatcher, or one with a capturing group, which Spring parses but cannot match
            return true;
        }
    }
}
