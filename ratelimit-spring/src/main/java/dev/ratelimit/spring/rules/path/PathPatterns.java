package dev.ratelimit.spring.rules.path;

import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;
import org.springframework.http.server.PathContainer;
import org.springframework.util.StringUtils;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/** Path patterns, as in mappings of Spring MVC. Immutable. */
public final class PathPatterns {

    /** No patterns. */
    public static final PathPatterns NONE = new PathPatterns(List.of(), true);

    private static final PathPatterns ALL = new PathPatterns(List.of("/**"), true);

    /**
     * A pattern.
     *
     * @param text as written
     * @param matching matches the same paths
     */
    private record Written(String text, PathPattern matching) {

        boolean isAnonymous() {
            return text.replaceAll("\\{[^/]*}|[/*?]", "").isEmpty();
        }

        boolean isDeep() {
            return text.endsWith("/**") || text.contains("{*");
        }
    }

    private final List<Written> patterns;

    /** Those that do not consist of wildcards and variables alone. */
    private final List<Written> naming;

    /**
     * Parses patterns; blanks at their ends are dropped.
     *
     * @param texts such as {@code /api/**}
     * @throws IllegalArgumentException if one cannot be parsed or is probably a mistake; the message points at the
     *     position
     */
    public PathPatterns(List<String> texts, boolean caseSensitive) {
        PathPatternParser parser = new PathPatternParser();
        parser.setCaseSensitive(caseSensitive);
        List<Written> parsed = new ArrayList<>();
        for (String text : texts) {
            parsed.add(parse(parser, text.strip()));
        }
        this.patterns = List.copyOf(parsed);
        this.naming =
                patterns.stream().filter(pattern -> !pattern.isAnonymous()).toList();
    }

    /** The texts as written: Spring Boot also splits them at commas in braces. */
    public static List<String> rejoined(List<String> texts) {
        List<String> whole = new ArrayList<>();
        for (String text : texts) {
            int last = whole.size() - 1;
            if (last >= 0 && !text.startsWith("/") && isOpen(whole.get(last))) {
                whole.set(last, whole.get(last) + "," + text);
            } else {
                whole.add(text);
            }
        }
        return whole;
    }

    private static boolean isOpen(String text) {
        return StringUtils.countOccurrencesOf(text, "{") > StringUtils.countOccurrencesOf(text, "}");
    }

    private static Written parse(PathPatternParser parser, String pattern) {
        UnmatchablePattern.check(pattern);
        try {
            String text = parser.parse(pattern).getPatternString();
            UnmatchablePattern.checkGroups(pattern);
            return new Written(text, parser.parse(SegmentWildcards.linear(pattern)));
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(Quotation.of(pattern) + ": " + Quotation.message(e.getDescription()), e);
        } catch (PatternParseException e) {
            throw new IllegalArgumentException(
                    Quotation.message(e.getMessage()) + Quotation.pointingAt(e.getPosition(), pattern), e);
        }
    }

    /** Whether there are no patterns. */
    public boolean isEmpty() {
        return patterns.isEmpty();
    }

    /** Whether one of the patterns matches. */
    boolean matchAny(PathContainer path) {
        return matchAny(patterns, path);
    }

    private static boolean matchAny(List<Written> patterns, PathContainer path) {
        for (int i = 0; i < patterns.size(); i++) {
            if (patterns.get(i).matching().matches(path)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether one of the patterns matches the request's path as written, or as the server normalized it; also without its last
     * slash, or a suffix, which an application may take for nothing.
     */
    public boolean matchAnyForm(RequestContext context) {
        return matchAnyForm(patterns, context);
    }

    /** Like {@link #matchAnyForm}, but by a pattern that has more than wildcards and variables. */
    public boolean nameAnyForm(RequestContext context) {
        return matchAnyForm(naming, context);
    }

    private static boolean matchAnyForm(List<Written> patterns, RequestContext context) {
        PathContainer read = context.normalizedPath();
        if (matchWithoutSlash(patterns, context.path()) || (read != null && matchWithoutSlash(patterns, read))) {
            return true;
        }
        PathContainer stem = context.pathWithoutSuffix();
        return stem != null && matchAny(patterns, stem);
    }

    private static boolean matchWithoutSlash(List<Written> patterns, PathContainer path) {
        if (matchAny(patterns, path)) {
            return true;
        }
        int last = path.elements().size() - 1;
        return last > 0
                && path.elements().get(last) instanceof PathContainer.Separator
                && matchAny(patterns, path.subPath(0, last));
    }

    /** Whether the patterns match the request's path both as written and as the server normalized it. */
    public boolean matchEveryForm(RequestContext context) {
        if (patterns.isEmpty() || !matchAny(context.path())) {
            return false;
        }
        PathContainer read = context.normalizedPath();
        return read == null || matchAny(read);
    }

    /** Whether the others match every path that these patterns match, as far as the texts show. */
    public boolean areCoveredBy(PathPatterns others) {
        return texts().stream().allMatch(others::cover);
    }

    /** Whether every path is matched by one of the patterns, as far as the texts show. */
    public boolean areEverything() {
        return ALL.areCoveredBy(this);
    }

    /**
     * Whether one of the patterns matches every path that the other one matches, as far as the texts show.
     *
     * @param text a pattern of Spring MVC, which need not be valid for a policy
     */
    public boolean cover(String text) {
        boolean deep = text.contains("**") || text.contains("{*");
        // /a/** is also /a
        String shallow = deep ? text.substring(0, Math.max(1, text.lastIndexOf('/'))) : text;
        List<PathContainer> paths = List.of(example(text), example(shallow), example(text.replace("*", "")));
        return patterns.stream()
                .filter(pattern -> !deep || pattern.isDeep())
                .anyMatch(pattern -> paths.stream().allMatch(pattern.matching()::matches));
    }

    /** A path that the pattern matches; others match it only if they match a segment of any length there. */
    private static PathContainer example(String pattern) {
        String unusual = pattern.replaceAll("[*{]", "$0~~~~~~~~");
        return PathContainer.parsePath(unusual.replace("%", "%25").replace(";", "%3B"));
    }

    /** The patterns as written. */
    public List<String> texts() {
        return patterns.stream().map(Written::text).toList();
    }

    /** For logs: {@code /api/**, /files/*}. */
    @Override
    public String toString() {
        return texts().stream().collect(Collectors.joining(", "));
    }
}
