package dev.ratelimit.spring;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/** Patterns of paths, as in Spring MVC's mappings. Immutable. */
public final class PathPatterns {

    /** None. */
    public static final PathPatterns NONE = new PathPatterns(List.of(), true);

    private final List<PathPattern> patterns;

    /**
     * Reads patterns; blanks at their ends are dropped.
     *
     * @param texts such as {@code /api/**}
     * @throws IllegalArgumentException when one cannot be read; the message points at the place
     */
    public PathPatterns(List<String> texts, boolean caseSensitive) {
        PathPatternParser parser = new PathPatternParser();
        parser.setCaseSensitive(caseSensitive);
        List<PathPattern> parsed = new ArrayList<>();
        for (String text : texts) {
            parsed.add(parse(parser, text.strip()));
        }
        this.patterns = List.copyOf(parsed);
    }

    private static PathPattern parse(PathPatternParser parser, String pattern) {
        if (!pattern.startsWith("/")) {
            throw new IllegalArgumentException("'" + pattern + "' must start with '/'");
        }
        try {
            return parser.parse(pattern);
        } catch (PatternParseException e) {
            String caret = " ".repeat(Math.max(0, e.getPosition())) + "^";
            throw new IllegalArgumentException(e.getMessage() + "\n      " + pattern + "\n      " + caret, e);
        }
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return patterns.isEmpty();
    }

    /** Whether one of them matches. */
    public boolean matchAny(PathContainer path) {
        for (int i = 0; i < patterns.size(); i++) {
            if (patterns.get(i).matches(path)) {
                return true;
            }
        }
        return false;
    }

    /** Whether one of them matches the request's path as it is written, or as the server has read it. */
    boolean matchAnyForm(Call call) {
        PathContainer read = call.readPath();
        return matchAny(call.path()) || (read != null && matchAny(read));
    }

    /** Whether the request's path is matched as it is written, and also as the server has read it. */
    boolean matchEveryForm(Call call) {
        if (patterns.isEmpty() || !matchAny(call.path())) {
            return false;
        }
        PathContainer read = call.readPath();
        return read == null || matchAny(read);
    }

    /** Whether every path that one of these matches is matched by one of the others, as far as can be told by the text. */
    boolean areCoveredBy(PathPatterns others) {
        return patterns.stream().allMatch(others::cover);
    }

    private boolean cover(PathPattern other) {
        String text = other.getPatternString();
        PathContainer path = PathContainer.parsePath(text);
        boolean deep = text.endsWith("/**") || text.contains("{*");
        return patterns.stream()
                .filter(pattern -> !deep || pattern.getPatternString().endsWith("/**"))
                .anyMatch(pattern -> pattern.matches(path));
    }

    /** As they were written. */
    public List<String> texts() {
        return patterns.stream().map(PathPattern::getPatternString).toList();
    }

    /** For people: {@code /api/**, /files/*}. */
    @Override
    public String toString() {
        return texts().stream().collect(Collectors.joining(", "));
    }
}
