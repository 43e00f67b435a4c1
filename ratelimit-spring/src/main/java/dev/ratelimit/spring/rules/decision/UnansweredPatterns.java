package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.mistake.MeantPath;
import dev.ratelimit.spring.rules.mistake.StartupReport;
import dev.ratelimit.spring.rules.mistake.UnintendedPatterns;
import dev.ratelimit.spring.rules.path.PathPatterns;
import dev.ratelimit.spring.rules.path.Routes;
import dev.ratelimit.spring.rules.path.Routes.Route;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.rule.EndpointRules;
import dev.ratelimit.spring.rules.rule.RequestMatcher;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.rule.Stage;
import dev.ratelimit.spring.rules.text.Spelling;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
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
final class UnansweredPatterns {

    private static final Logger log = LoggerFactory.getLogger(StartupReport.class);

    /** Paths that Spring Security's filters may answer, whatever they are configured to be. */
    private static final Pattern LOGIN = Pattern.compile(
            "(?i)log-?_?(?:in|out)|sign-?_?(?:in|out)|auth|saml|sso|token|session|/ott|/connect|/userinfo|well-known");

    private static final String NOBODY = "no controller, static file or servlet";
    private static final String ANYBODY = "every controller, static file and servlet";

    /** Where static files and filters may answer; a page at the root is a route. */
    private static final String BELOW_ROOT = "/{segment}/**";

    private final Routes routes;
    private final UnintendedPatterns unintended;

    /**
     * Compares patterns with these routes.
     *
     * @param unintended recognizes patterns that have been warned of already
     */
    UnansweredPatterns(Routes routes, UnintendedPatterns unintended) {
        this.routes = routes;
        this.unintended = unintended;
    }

    /** Warns about all rules and exemptions. */
    void warnOf(RulesInForce rules) {
        // the two rules of a policy with a rate and a concurrency have one matcher
        Set<RequestMatcher> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Rule rule : rules.anywhere().rules()) {
            if (seen.add(rule.match())) {
                warnOfPaths(rule);
                warnOfExclusions(rule);
                warnOfVariables(rule);
            }
        }
        rules.byPolicy().values().stream()
                .filter(rule -> rule.match().annotated())
                .filter(rule -> rules.mode(rule.policy().name()) != Mode.OFF)
                .forEach(rule -> warnOfVariables(rule, rules.byEndpoint()));
        PathPatterns exempt = rules.exemptions().paths();
        if (!exempt.areEverything() && coverAnswers(exempt, PathPatterns.NONE, Set.of())) {
            log.warn("ratelimit.exempt.paths: {} cover the paths of {}, so nothing is limited", exempt, ANYBODY);
        }
        if (unintended.reason(exempt) == null) {
            exempt.texts()
                    .forEach(path -> warn("ratelimit.exempt.paths has " + path, path, true, "nothing is exempt there"));
        }
    }

    /** What is probably wrong with the path of a policy; {@code null} if something may answer there. */
    @Nullable
    String remark(String path) {
        if (routes.mayAnswer(path, false) || isLogin(path)) {
            return null;
        }
        String meant = new MeantPath(routes, false).of(path);
        return NOBODY + " has the path " + path + ", so the policy limits only requests that nothing answers there"
                + (meant == null ? ", unless a filter does" : "; did you mean " + meant + "?");
    }

    private void warnOfPaths(Rule rule) {
        RequestMatcher match = rule.match();
        List<String> paths = match.paths().texts();
        if (unintended.reason(match.paths(), match.exceptPaths()) != null) {
            return;
        }
        paths.forEach(path -> {
            String what = "Rate limit '" + rule.policy().name() + "' is for " + path;
            if (rule.stage() == Stage.AFTER_SECURITY && isLogin(path) && !routes.mayAnswer(path, false)) {
                warnOfLogin(what, rule);
            } else {
                warn(what, path, false, "it limits only requests that nothing answers");
            }
        });
        match.exceptPaths()
                .texts()
                .forEach(path -> warn(
                        "Rate limit '" + rule.policy().name() + "' excludes " + path,
                        path,
                        true,
                        "nothing is excluded"));
        if (!match.methods().isEmpty() && !match.methods().contains("OPTIONS")) {
            warnOfMethods(rule, paths);
        }
    }

    private void warnOfExclusions(Rule rule) {
        RequestMatcher match = rule.match();
        if (!match.excludesEverything() && coverAnswers(match.exceptPaths(), match.paths(), match.methods())) {
            log.warn(
                    "Rate limit '{}' has except-paths that cover the paths of {} that it is for, so it limits only requests"
                            + " that nothing answers: {}",
                    rule.policy().name(),
                    ANYBODY,
                    match.exceptPaths());
        }
    }

    /** Whether the patterns cover whatever answers on these paths; if that is unknown, they do not. */
    private boolean coverAnswers(PathPatterns patterns, PathPatterns paths, Set<String> methods) {
        if (routes.anything() || patterns.isEmpty()) {
            return false;
        }
        Stream<String> others = paths.isEmpty() || paths.areEverything()
                ? Stream.of(BELOW_ROOT)
                : paths.texts().stream().filter(this::mayBeAnsweredByOthers);
        Stream<String> known = matching(paths.texts())
                .filter(route -> route.answersAny(methods))
                .map(Route::pattern);
        List<String> answered = Stream.concat(others, known).toList();
        return !answered.isEmpty() && answered.stream().allMatch(patterns::cover);
    }

    private boolean mayBeAnsweredByOthers(String path) {
        return routes.files().test(path)
                || routes.matching(path, false).findAny().isEmpty();
    }

    /** What a filter of Spring Security answers never gets to a rule after it. */
    private static void warnOfLogin(String what, Rule rule) {
        String remedy = rule.reads().includeCaller()
                ? "It needs the caller, whom nobody knows before Spring Security: write another key"
                : "Write stage: before-security";
        log.warn(
                "{}: {} has such a path, and where a filter of Spring Security answers it, the limit never applies, because it"
                        + " comes after Spring Security. {}",
                what,
                NOBODY,
                remedy);
    }

    private void warn(String what, String path, boolean caseSensitive, String consequence) {
        if (routes.mayAnswer(path, caseSensitive)) {
            return;
        }
        String meant = isLogin(path) ? null : new MeantPath(routes, caseSensitive).of(path);
        if (meant != null) {
            log.warn("{}, but {} has such a path, so {}. Did you mean {}?", what, NOBODY, consequence, meant);
        } else if (isLogin(path)) {
            log.info("{}: {} has such a path, but a filter of Spring Security may answer it", what, NOBODY);
        } else {
            log.warn("{}, but {} has such a path; unless a filter answers it, {}", what, NOBODY, consequence);
        }
    }

    private boolean isLogin(String path) {
        return routes.logins() && LOGIN.matcher(path).find();
    }

    /** Servers and Spring MVC answer OPTIONS themselves, and static files answer GET. */
    private void warnOfMethods(Rule rule, List<String> paths) {
        Set<String> methods = rule.match().methods();
        List<Route> matching = matching(paths).toList();
        boolean login = paths.isEmpty() ? routes.logins() : paths.stream().anyMatch(this::isLogin);
        if (!routes.anything()
                && !login
                && !matching.isEmpty()
                && matching.stream().noneMatch(route -> route.answersAny(methods))
                && !(methods.contains("GET") && paths.stream().anyMatch(routes.files()))) {
            log.warn(
                    "Rate limit '{}' is for {} on {}, but what answers there is for {} only, so it limits only"
                            + " requests that are refused anyway",
                    rule.policy().name(),
                    String.join(", ", new TreeSet<>(methods)),
                    paths.isEmpty() ? "all paths" : String.join(", ", paths),
                    Routes.methodsOf(matching.stream()));
        }
    }

    private Stream<Route> matching(List<String> paths) {
        return paths.isEmpty() ? routes.all().stream() : paths.stream().flatMap(path -> routes.matching(path, false));
    }

    private void warnOfVariables(Rule rule) {
        List<String> paths = rule.match().paths().texts();
        List<String> patterns = matching(paths)
                .filter(route -> route.answersAny(rule.match().methods()))
                .map(Route::pattern)
                .toList();
        if (!routes.anything()) {
            warnOfVariables(rule, patterns, paths.isEmpty() ? "" : " on " + String.join(", ", paths));
        }
    }

    /** By annotations, only some handlers have the rule. */
    private static void warnOfVariables(Rule rule, Map<Endpoint, EndpointRules> annotated) {
        List<String> patterns = annotated.entrySet().stream()
                .filter(entry -> entry.getValue().names(rule.policy()))
                .flatMap(entry -> Stream.ofNullable(entry.getKey().pattern()))
                .map(Object::toString)
                .toList();
        warnOfVariables(rule, patterns, " whose annotation names it");
    }

    private static void warnOfVariables(Rule rule, List<String> patterns, String where) {
        Set<String> variables = new TreeSet<>();
        patterns.forEach(pattern -> Pattern.compile("\\{\\*?([^:}]+)")
                .matcher(pattern)
                .results()
                .forEach(found -> variables.add(found.group(1))));
        for (KeyPart part : rule.key().parts()) {
            String name = part.pathVariable();
            if (name != null && !patterns.isEmpty() && !variables.contains(name)) {
                log.warn(
                        "Rate limit '{}' is by {}, but no endpoint{} has a variable {}{}, so {}",
                        rule.policy().name(),
                        part,
                        where,
                        "{" + name + "}",
                        Spelling.hint(name, variables),
                        rule.key().ifAlwaysMissing());
            }
        }
    }
}
