package dev.ratelimit.spring.rules.config;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.expression.RequestExpression;
import dev.ratelimit.spring.rules.path.PathPatterns;
import dev.ratelimit.spring.rules.request.Condition;
import dev.ratelimit.spring.rules.request.HttpMethods;
import dev.ratelimit.spring.rules.rule.RequestMatcher;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads which requests a policy applies to; a mistake is reported with its property. */
final class MatchParser {

    private final Section section;
    private final PolicyProperties.Match written;

    MatchParser(Section section, PolicyProperties.Match written) {
        this.section = section;
        this.written = written;
    }

    /**
     * Reads the properties.
     *
     * @param given the paths on which an operator has put the policy in force; {@code null} for all of its paths
     * @throws RateLimitConfigurationException at the first mistake
     */
    RequestMatcher parse(@Nullable List<String> given) {
        checkAnnotated("paths", given == null ? written.paths() : given);
        checkAnnotated("except-paths", written.exceptPaths());
        checkAnnotated("methods", written.methods());
        written.methods().forEach(this::checkMethod);
        PathPatterns except = patterns("except-paths", written.exceptPaths(), true);
        PathPatterns configured = patterns("paths", written.paths(), false);
        return new RequestMatcher(
                given == null ? configured : within(configured, except, patterns("paths", given, false)),
                except,
                written.methods().stream()
                        .map(method -> HttpMethods.seenAs(method.strip()))
                        .collect(Collectors.toSet()),
                condition(written.when()),
                written.annotated());
    }

    private void checkAnnotated(String property, List<String> values) {
        if (written.annotated() && !values.isEmpty()) {
            throw section.mistake(
                    property,
                    String.join(", ", values),
                    "with match.annotated: true, the policy applies where annotations name it, whatever their paths and"
                            + " methods; remove one of the two");
        }
    }

    private void checkMethod(String method) {
        if (!HttpMethods.canBeWritten(method.strip())) {
            throw section.mistake(
                    "methods",
                    method,
                    Quotation.of(method)
                            + " is not an HTTP method; write GET, POST, PUT, PATCH, DELETE, OPTIONS, TRACE or QUERY");
        }
    }

    /** Checks that the policy may be in force on the paths that it is given. */
    private PathPatterns within(PathPatterns configured, PathPatterns except, PathPatterns given) {
        for (String path : given.texts()) {
            if (!configured.isEmpty() && !configured.cover(path)) {
                throw section.mistake(
                        "paths", path, "the configuration lets the policy be in force only within " + configured);
            }
            if (except.cover(path)) {
                throw section.mistake("paths", path, "the configuration excludes it by except-paths: " + except);
            }
        }
        return given;
    }

    private PathPatterns patterns(String property, List<String> values, boolean exact) {
        List<String> texts = PathPatterns.rejoined(values);
        for (String text : texts) {
            section.checked(property, text, () -> new PathPatterns(List.of(text), exact));
        }
        return new PathPatterns(texts, exact);
    }

    private @Nullable Condition condition(@Nullable String when) {
        if (when == null) {
            return null;
        }
        Condition condition = section.checked("when", when, () -> RequestExpression.condition(when, true));
        if (condition.isAlways(false)) {
            throw section.mistake("when", when, "it is never true, so nothing is limited; write mode: off");
        }
        return condition;
    }
}
