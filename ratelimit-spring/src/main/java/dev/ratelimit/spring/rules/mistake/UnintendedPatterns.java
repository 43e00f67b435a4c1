package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.rules.path.PathPatterns;
import dev.ratelimit.spring.rules.path.UnmatchablePattern;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Recognizes path patterns that are valid but probably do not match the intended paths. */
public final class UnintendedPatterns {

    /** Two asterisks that are not a segment of their own: they match like one. */
    private static final Pattern WITHIN_SEGMENT = Pattern.compile("[^/]\\*\\*|\\*\\*[^/]");

    /** What URLs have before the paths that patterns match, by its name. */
    private final Map<String, String> prefixes = new LinkedHashMap<>();

    /**
     * Recognizes patterns of this application.
     *
     * @param contextPath the context path; empty or a slash for the root
     * @param servletPath the path of Spring MVC's servlet; empty or a slash for the root
     */
    public UnintendedPatterns(String contextPath, String servletPath) {
        add("context path", contextPath);
        add("path of Spring MVC's servlet", servletPath);
    }

    private void add(String name, String path) {
        String prefix = path.replaceAll("/$", "");
        if (!prefix.isEmpty()) {
            prefixes.put(name, prefix);
        }
    }

    /** Why one of the patterns probably does not match the intended paths, and what to write; {@code null} if all do. */
    public @Nullable String reason(PathPatterns... patterns) {
        return Stream.of(patterns)
                .flatMap(some -> some.texts().stream())
                .flatMap(text -> Stream.of(prefixed(text), slashed(text), starred(text)))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private @Nullable String prefixed(String text) {
        return prefixes.entrySet().stream()
                .filter(prefix -> text.equals(prefix.getValue()) || text.startsWith(prefix.getValue() + "/"))
                .map(prefix ->
                        "paths are relative to the " + prefix.getKey() + " " + prefix.getValue() + "; leave it out")
                .findFirst()
                .orElse(null);
    }

    private static @Nullable String slashed(String text) {
        return text.length() > 1 && text.endsWith("/")
                ? text + " does not match the path without the slash at its end; leave the slash out"
                : null;
    }

    private static @Nullable String starred(String text) {
        return WITHIN_SEGMENT.matcher(UnmatchablePattern.withoutBraces(text)).find()
                ? "the ** in " + text + " matches within one segment only; write /** for all segments below"
                : null;
    }
}
