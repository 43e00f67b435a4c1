package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.path.PathPatterns;
import dev.ratelimit.spring.rules.path.Routes;
import dev.ratelimit.spring.rules.path.Routes.Route;
import dev.ratelimit.spring.rules.rule.RequestMatcher;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.rule.Stage;
import dev.ratelimit.spring.rules.text.Spelling;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns about paths, methods and path variables of policies that no route has, which are probably misspelt: the policy
 * then limits nothing, or something else.
 */
public final class UnansweredPatterns {

    private static final Logger log = LoggerFactory.getLogger(StartupReport.class);

    /** Paths that Spring Security's filters may answer, whatever they are configured to be. */
    private static final Pattern LOGIN = Pattern.compile(
            "(?i)log-?_?(?:in|out)|sign-?_?(?:in|out)|auth|saml|sso|token|session|/ott|/connect|/userinfo|well-known");

    private static final Pattern VARIABLE = Pattern.compile("\\{\\*?([^:}]+)");

    private static final String NOBODY = "no controller, static file or servlet";

    /** Where static files and filters may answer; a page at the root is a route. */
    private static final String BELOW_ROOT = "/{segment}/**";

    private final Routes routes;
    private final UnintendedPatterns unintended;

    /**
     * Compares patterns with these routes.
     *
     * @param unintended recognizes patterns that have been warned of already
     */
    public UnansweredPatterns(Routes routes, UnintendedPatterns unintended) {
        this.routes = routes;
        this.unintended = unintended;
    }

    /** Warns about rules and exempt paths. */
    public void warnOf(List<Rule> rules, PathPatterns exempt) {
        // the two rules of a policy with a rate and a concurrency have one matcher
        Set<RequestMatcher> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        rules.stream().filter(rule -> seen.add(rule.match())).forEach(this::warnOf);
        if (!routes.anything()
                && !exempt.areEverything()
                && Stream.concat(Stream.of(BELOW_ROOT), routes.all().stream().map(Route::pattern))
                        .allMatch(exempt::cover)) {
            log.warn(
                    "ratelimit.exempt.paths: {} cover the paths of every controller, static file and servlet, so nothing is"
                            + " limited",
                    exempt);
        }
        if (unintended.reason(exempt) == null) {
            exempt.texts()
                    .forEach(path -> warn("ratelimit.exempt.paths has " + path, path, true, "nothing is exempt there"));
        }
    }

    private void warnOf(Rule rule) {
        RequestMatcher match = rule.match();
        List<String> paths = match.paths().texts();
        if (unintended.reason(match.paths(), match.exceptPaths()) == null) {
            paths.forEach(path -> warnOfPath(path, rule));
            match.exceptPaths()
                    .texts()
                    .forEach(path -> warn(named(rule) + " excludes " + path, path, true, "nothing is excluded"));
            warnOfMethods(match.methods(), paths, rule);
        }
        if (!routes.anything()) {
            Stream<String> patterns = matching(paths)
                    .filter(route -> route.answersAny(match.methods()))
                    .map(Route::pattern);
            warnOfVariables(rule, patterns.toList(), paths.isEmpty() ? "" : " on " + String.join(", ", paths));
        }
    }

    private static String named(Rule rule) {
        return "Rate limit '" + rule.policy().name() + "'";
    }

    /** What is probably wrong with the path of a policy; {@code null} if something may answer there. */
    public @Nullable String remark(String path) {
        if (routes.mayAnswer(path, false) || isLogin(path)) {
            return null;
        }
        String meant = routes.meant(path, false);
        return NOBODY + " has the path " + path + ", so the policy limits only requests that nothing answers there"
                + (meant == null ? ", unless a filter does" : "; did you mean " + meant + "?");
    }

    private void warnOfPath(String path, Rule rule) {
        String what = named(rule) + " is for " + path;
        Set<String> methods = rule.match().methods();
        if (rule.stage() == Stage.AFTER_SECURITY && isLogin(path) && !routes.mayAnswer(methods, path, false)) {
            log.warn(
                    "{}: {} has such a path{}, and where a filter of Spring Security answers it, the limit never applies,"
                            + " because it comes after Spring Security. {}",
                    what,
                    NOBODY,
                    methods.isEmpty() ? "" : " for " + String.join(", ", new TreeSet<>(methods)),
                    rule.reads().includeCaller()
                            ? "It needs the caller, whom nobody knows before Spring Security: write another key"
                            : "Write stage: before-security");
        } else {
            warn(what, path, false, "it limits only requests that nothing answers");
        }
    }

    private void warn(String what, String path, boolean caseSensitive, String consequence) {
        if (routes.mayAnswer(path, caseSensitive)) {
            return;
        }
        String meant = routes.meant(path, caseSensitive);
        if (isLogin(path)) {
            log.info("{}: {} has such a path, but a filter of Spring Security may answer it", what, NOBODY);
        } else if (meant != null) {
            log.warn("{}, but {} has such a path, so {}. Did you mean {}?", what, NOBODY, consequence, meant);
        } else {
            log.warn("{}, but {} has such a path; unless a filter answers it, {}", what, NOBODY, consequence);
        }
    }

    private boolean isLogin(String path) {
        return routes.logins() && mayBeOfSecurity(path);
    }

    /** Whether this is such a path as filters of Spring Security answer. */
    public static boolean mayBeOfSecurity(String path) {
        return LOGIN.matcher(path).find();
    }

    /** Servers and Spring MVC answer OPTIONS themselves, and static files answer GET. */
    private void warnOfMethods(Set<String> methods, List<String> paths, Rule rule) {
        List<Route> matching = matching(paths).toList();
        boolean login = paths.isEmpty() ? routes.logins() : paths.stream().anyMatch(this::isLogin);
        if (!routes.anything()
                && !login
                && !matching.isEmpty()
                && !methods.contains("OPTIONS")
                && matching.stream().noneMatch(route -> route.answersAny(methods))
                && !(methods.contains("GET") && paths.stream().anyMatch(routes.files()))) {
            log.warn(
                    "{} is for {} on {}, but what answers there is for {} only, so it limits only requests that are refused"
                            + " anyway",
                    named(rule),
                    String.join(", ", new TreeSet<>(methods)),
                    paths.isEmpty() ? "all paths" : String.join(", ", paths),
                    Routes.methodsOf(matching.stream()));
        }
    }

    private Stream<Route> matching(List<String> paths) {
        return paths.isEmpty() ? routes.all().stream() : paths.stream().flatMap(path -> routes.matching(path, false));
    }

    /**
     * Warns about path variables of a rule's key that none of these patterns has.
     *
     * @param where which endpoints have the patterns, for the message
     */
    public static void warnOfVariables(Rule rule, List<String> patterns, String where) {
        Set<String> variables = new TreeSet<>();
        patterns.forEach(
                pattern -> VARIABLE.matcher(pattern).results().forEach(found -> variables.add(found.group(1))));
        for (KeyPart part : rule.key().parts()) {
            String name = part.pathVariable();
            if (name != null && !patterns.isEmpty() && !variables.contains(name)) {
                log.warn(
                        "{} is by {}, but no endpoint{} has a variable {}{}, so {}",
                        named(rule),
                        part,
                        where,
                        "{" + name + "}",
                        Spelling.hint(name, variables),
                        rule.key().ifAlwaysMissing());
            }
        }
    }
}
