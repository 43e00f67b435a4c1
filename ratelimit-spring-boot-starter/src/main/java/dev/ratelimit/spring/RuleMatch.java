package dev.ratelimit.spring;

import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which requests a rule is for, by method, path and condition; paths as Spring MVC sees them, decoded and without
 * parameters.
 *
 * <p>Errs on the side of limiting: {@code paths} match in any case, {@code exceptPaths} only as written; methods match in
 * any case, and {@code HEAD} is a {@code GET}. Immutable.
 *
 * @param paths those that are meant; all if there are none
 * @param exceptPaths those that are not
 * @param methods those that are meant, in capitals and without {@code HEAD}; all if there are none
 * @param when what else has to hold, or {@code null}
 * @param annotated whether only endpoints are meant whose annotation names the policy
 */
public record RuleMatch(
        PathPatterns paths,
        PathPatterns exceptPaths,
        Set<String> methods,
        @Nullable Condition when,
        boolean annotated) {

    /** Only requests to endpoints whose annotation names the policy. */
    public static final RuleMatch ANNOTATED = new RuleMatch(PathPatterns.NONE, PathPatterns.NONE, Set.of(), null, true);

    /** The methods there are, but for {@code HEAD}, which counts as {@code GET}. */
    public static final Set<String> METHODS = Set.of("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE");

    /** Copies the set. */
    public RuleMatch {
        methods = Set.copyOf(methods);
    }

    /**
     * What has to hold for a request.
     *
     * @param written as it was written
     * @param test whether it holds
     * @param needsPrincipal whether it cannot be told before Spring Security has run
     */
    public record Condition(String written, Predicate<Call> test, boolean needsPrincipal) {}

    /** The same, but only for endpoints whose annotation names the policy, whatever their paths and methods. */
    RuleMatch whereAnnotated() {
        return new RuleMatch(PathPatterns.NONE, PathPatterns.NONE, Set.of(), when, true);
    }

    /** Whether the request is meant, wherever it leads. */
    public boolean matches(Call call) {
        return !annotated
                && matchesMethod(methodOf(call.request().getMethod()))
                && (paths.isEmpty() || paths.matchAnyForm(call))
                && !exceptPaths.matchEveryForm(call)
                && holds(call);
    }

    /** A method that nobody knows may reach a handler of any method. */
    private boolean matchesMethod(String method) {
        return methods.isEmpty() || methods.contains(method) || !METHODS.contains(method);
    }

    /** Whether the condition holds, if there is one. */
    public boolean holds(Call call) {
        return when == null || when.test().test(call);
    }

    /** Whether every path that is meant is taken out again. */
    public boolean isImpossible() {
        return paths.isEmpty() ? exceptPaths.texts().contains("/**") : paths.areCoveredBy(exceptPaths);
    }

    /** The method that handlers see: {@code HEAD} is answered by those for {@code GET}. */
    public static String methodOf(String method) {
        String upper = method.toUpperCase(Locale.ROOT);
        return upper.equals("HEAD") ? "GET" : upper;
    }

    /** For people: {@code on GET /api/**}. */
    @Override
    public String toString() {
        String condition = when == null ? "" : " when " + when.written();
        if (annotated) {
            return "where annotated" + condition;
        }
        String which = methods.isEmpty() ? "" : String.join(",", new TreeSet<>(methods)) + " ";
        String where = paths.isEmpty() ? "all paths" : paths.toString();
        return "on " + which + where + (exceptPaths.isEmpty() ? "" : " except " + exceptPaths) + condition;
    }
}
