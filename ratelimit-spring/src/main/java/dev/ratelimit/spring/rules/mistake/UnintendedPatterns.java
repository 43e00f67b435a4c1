package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.rules.path.PathPatterns;
import dev.ratelimit.spring.rules.path.UnmatchablePattern;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Recognizes path patterns of an application that are valid but probably do not match the intended paths.
 *
 * @param contextPath the context path; empty or a slash for the root
 * @param servletPath the path of Spring MVC's servlet; empty or a slash for the root
 */
public record UnintendedPatterns(String contextPath, String servletPath) {

    /** Two asterisks that are not a segment of their own: they match like one. */
    private static final Pattern WITHIN_SEGMENT = Pattern.compile("[^/]\\*\\*|\\*\\*[^/]");

    /** Drops slashes at the end. */
    public UnintendedPatterns {
        contextPath = contextPath.replaceAll("/$", "");
        servletPath = servletPath.replaceAll("/$", "");
    }

    /** Why one of the patterns probably does not match the intended paths, and what to write; {@code null} if all do. */
    public @Nullable String reason(PathPatterns... patterns) {
        return Stream.of(patterns)
                .flatMap(some -> some.texts().stream())
                .map(this::reason)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private @Nullable String reason(String text) {
        if (isBelow(contextPath, text)) {
            return "paths are relative to the context path " + contextPath + "; leave it out";
        }
        if (isBelow(servletPath, text)) {
            return "paths are relative to the path of Spring MVC's servlet " + servletPath + "; leave it out";
        }
        if (text.length() > 1 && text.endsWith("/")) {
            return text + " does not match the path without the slash at its end; leave the slash out";
        }
        return WITHIN_SEGMENT.matcher(UnmatchablePattern.withoutBraces(text)).find()
                ? "the ** in " + text + " matches within one segment only; write /** for all segments below"
                : null;
    }

    private static boolean isBelow(String path, String text) {
        return !path.isEmpty() && (text + "/").startsWith(path + "/");
    }
}
