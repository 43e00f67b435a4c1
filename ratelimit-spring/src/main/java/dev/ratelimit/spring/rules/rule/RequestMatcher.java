package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.spring.rules.path.PathPatterns;
import dev.ratelimit.spring.rules.request.Condition;
import dev.ratelimit.spring.rules.request.HttpMethods;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which requests a rule applies to, by method, path and condition. Paths are those that Spring MVC sees: decoded, and
 * without parameters.
 *
 * <p>In doubt, a request is limited: {@code paths} ignore case, {@code exceptPaths} match only as written; methods
 * ignore case, and {@code HEAD} counts as {@code GET}. Immutable.
 *
 * @param paths the matching paths; empty for all
 * @param exceptPaths the excluded paths
 * @param methods the matching methods, in upper case and without {@code HEAD}; empty for all
 * @param when a condition, or {@code null}
 * @param annotated whether only endpoints have the rule whose annotation names the policy, whatever their paths and
 *     methods
 */
public record RequestMatcher(
        PathPatterns paths,
        PathPatterns exceptPaths,
        Set<String> methods,
        @Nullable Condition when,
        boolean annotated) {

    /** Matches only endpoints whose annotation names the policy. */
    public static final RequestMatcher ANNOTATED =
            new RequestMatcher(PathPatterns.NONE, PathPatterns.NONE, Set.of(), null, true);

    /** Copies the set. */
    public RequestMatcher {
        methods = Set.copyOf(methods);
    }

    /** The same matcher, but only for endpoints whose annotation names the policy, whatever their paths and methods. */
    RequestMatcher whereAnnotated() {
        return new RequestMatcher(PathPatterns.NONE, PathPatterns.NONE, Set.of(), when, true);
    }

    /** Whether a request matches whose endpoint has the rule. */
    public boolean matches(RequestContext context) {
        return mayMatch(context) && (when == null || when.test().test(context));
    }

    /** Whether its method and path match, whatever the condition says. */
    public boolean mayMatch(RequestContext context) {
        return matchesMethod(context)
                && (paths.isEmpty() || paths.matchAnyForm(context))
                && !exceptPaths.matchEveryForm(context);
    }

    /** Whether it is meant for the request's path or endpoint in particular, and not for requests in general. */
    public boolean names(RequestContext context) {
        return annotated || paths.nameAnyForm(context);
    }

    /** An unknown method may reach a handler of any method. */
    private boolean matchesMethod(RequestContext context) {
        if (methods.isEmpty()) {
            return true;
        }
        String method = HttpMethods.seenAs(context.request().method());
        return methods.contains(method) || !HttpMethods.ALL.contains(method);
    }

    /** Whether {@code exceptPaths} covers every path in {@code paths}. */
    public boolean excludesEverything() {
        return paths.isEmpty() ? exceptPaths.areEverything() : paths.areCoveredBy(exceptPaths);
    }

    /** For logs: {@code on GET /api/**}. */
    @Override
    public String toString() {
        return describe("where annotated");
    }

    /**
     * For logs.
     *
     * @param whereNamed what is said of a policy that applies only where it is named
     */
    String describe(String whereNamed) {
        String condition = when == null ? "" : " when " + when.written();
        if (annotated) {
            return whereNamed + condition;
        }
        String which = methods.isEmpty() ? "" : String.join(",", new TreeSet<>(methods)) + " ";
        String where = paths.isEmpty() ? "all paths" : paths.toString();
        return "on " + which + where + (exceptPaths.isEmpty() ? "" : " except " + exceptPaths) + condition;
    }
}
