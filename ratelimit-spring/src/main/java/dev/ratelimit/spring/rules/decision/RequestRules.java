package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.config.AnnotatedRules;
import dev.ratelimit.spring.rules.config.ExtraPolicies;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.config.PolicyRules;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.mistake.StartupReport;
import dev.ratelimit.spring.rules.mistake.UnansweredPatterns;
import dev.ratelimit.spring.rules.mistake.UnintendedPatterns;
import dev.ratelimit.spring.rules.path.Routes;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.rules.rule.LiveOverrides;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.rule.Stage;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.StringValueResolver;

/**
 * The rules that apply to requests: the configured ones and those of the request's endpoint. First they are read, then
 * they get the endpoints, and from {@link #enforce} on, they apply and are thread-safe.
 */
public final class RequestRules {

    /** Finds no endpoints; used until they are known. */
    private static final EndpointResolver NOWHERE = new EndpointResolver() {
        @Override
        public Endpoint resolve(WebRequest request) {
            return Endpoint.NOWHERE;
        }

        @Override
        public boolean mayLeadToAnnotated(WebRequest request) {
            return false;
        }
    };

    /** A method that handles no requests, and whose calls are limited. */
    private record Called(Class<?> type, Method method) {}

    /**
     * Rules that were read again.
     *
     * @param rules which are not in force yet
     * @param enforce puts them in force: all requests from then on see them, all others those before. Not to be called
     *     after others were put in force.
     */
    public record Reread(RulesInForce rules, Runnable enforce) {}

    /**
     * Rules as they are configured.
     *
     * @param rules by the policy that needs no configuration and is there as well; without one, by the empty name
     */
    private record Configured(RateLimitProperties properties, Map<String, RulesInForce> rules) {}

    /** Reads properties with changes and other algorithms, both by policy. */
    private interface Parser {

        ParsedRules parse(
                RateLimitProperties written, Map<String, RateLimitChange> changes, Map<String, String> algorithms);
    }

    private final Parser parser;
    private final List<ParsedRules.Handler> handlers = new ArrayList<>();
    private final List<Called> calls = new ArrayList<>();

    /** The policies that routes name, by the id of the route. */
    private final Map<String, Set<String>> routes = new ConcurrentHashMap<>();

    /** Finds the overrides of single keys that operators have set, by policy. */
    private volatile Function<RulesInForce, Map<String, LiveOverrides>> overrides = rules -> Map.of();

    /** Are told of the rules that are in force from now on. */
    private final List<Consumer<RulesInForce>> listeners = new CopyOnWriteArrayList<>();

    private EndpointResolver endpoints = NOWHERE;

    /** Of the routes that were known last. */
    private volatile @Nullable UnansweredPatterns unanswered;

    /** Whether Spring Security runs between two stages. */
    private volatile boolean stages;

    /** What was read without changes. */
    private volatile @Nullable Configured configured;

    private volatile RateLimitProperties properties;
    private volatile ParsedRules parsed;
    private volatile RulesInForce inForce;

    /**
     * Reads the configuration.
     *
     * @param beans the beans that keys and plans may refer to
     * @param placeholders resolves placeholders in the attributes of annotations
     * @param store throws an {@link IllegalArgumentException} for a limit that the store cannot keep
     * @throws RateLimitConfigurationException at the first mistake
     */
    public RequestRules(
            RateLimitProperties properties,
            ListableBeanFactory beans,
            StringValueResolver placeholders,
            Consumer<Limit> store) {
        this.properties = properties;
        this.parser = (written, changed, algorithms) -> {
            PolicyRules configured = new PolicyRules(written, changed, algorithms, beans, store);
            return new ParsedRules(configured, configured.annotated(placeholders));
        };
        this.parsed = parser.parse(properties, Map.of(), Map.of());
        this.inForce = RulesInForce.none(parsed.byMethod(), parsed.configured().sources(NOWHERE));
    }

    /** The policies of the configuration, while no request is charged. */
    public static RequestRules withoutRequests(
            RateLimitProperties properties,
            ListableBeanFactory beans,
            StringValueResolver placeholders,
            Consumer<Limit> store) {
        RequestRules rules = new RequestRules(properties, beans, placeholders, store);
        rules.enforce(NOWHERE);
        return rules;
    }

    /**
     * Reads the annotations of an endpoint's handler.
     *
     * @return whether there are any, even if they are off
     * @throws RateLimitConfigurationException at the first mistake
     */
    public boolean add(Endpoint endpoint, Class<?> type, Method handler) {
        if (!AnnotatedRules.concern(type, handler)) {
            return false;
        }
        ParsedRules.Handler added = new ParsedRules.Handler(endpoint, type, handler);
        parsed.add(added);
        handlers.add(added);
        return true;
    }

    /**
     * Reads the annotations of a method that handles no requests.
     *
     * @return whether its calls are limited
     * @throws RateLimitConfigurationException at the first mistake
     */
    public boolean addCall(Class<?> type, Method method) {
        if (parsed.byMethod().of(type, method).areNone()) {
            return false;
        }
        calls.add(new Called(type, method));
        return true;
    }

    /**
     * Notes that a route names policies, besides those that it has named before.
     *
     * @throws RateLimitConfigurationException if there is no such policy, or it does not fit
     */
    void nameAtRoute(String route, List<String> policies) {
        parsed.configured().checkNamed(route, policies);
        add(routes, route, policies);
    }

    private static void add(Map<String, Set<String>> named, String route, List<String> policies) {
        named.merge(route, Set.copyOf(policies), (before, more) -> {
            Set<String> all = new TreeSet<>(before);
            all.addAll(more);
            return all;
        });
    }

    /** Replaces the routes by others, with the policies that each of them names. */
    void replaceRoutes(Map<String, Set<String>> now) {
        routes.keySet().retainAll(now.keySet());
        routes.putAll(now);
    }

    /** Whether calls of a handler that has been added are limited. */
    public boolean limitCallsOf(Class<?> type, Method handler) {
        return AnnotatedRules.concern(type, handler)
                && !parsed.byMethod().of(type, handler).areNone();
    }

    /** Puts all rules in force. */
    public synchronized void enforce(EndpointResolver resolver) {
        endpoints = resolver;
        configured = null;
        putInForce(parsed.inForce(resolver));
    }

    private void putInForce(RulesInForce then) {
        RulesInForce now = then.with(overrides.apply(then));
        inForce = now;
        listeners.forEach(listener -> listener.accept(now));
    }

    /**
     * Reads the configuration with other changes. Nothing is in force yet.
     *
     * @throws RateLimitConfigurationException if the rules would not be valid
     */
    public Reread read(Map<String, RateLimitChange> next) {
        return read(properties, next, Map.of());
    }

    /**
     * Reads the configuration with other changes, and a policy with another algorithm.
     *
     * @param algorithm as in the configuration
     * @throws RateLimitConfigurationException if the rules would not be valid
     */
    public RulesInForce readWith(Map<String, RateLimitChange> next, String policy, String algorithm) {
        return read(properties, next, Map.of(policy, algorithm)).rules();
    }

    /** Reads other policies, too; all other properties stay as they are. */
    public Reread read(Map<String, PolicyProperties> policies, Map<String, RateLimitChange> next) {
        RateLimitProperties written = properties.withPolicies(policies);
        properties.checkChangeable(written);
        return read(written, next, Map.of());
    }

    private Reread read(
            RateLimitProperties written, Map<String, RateLimitChange> next, Map<String, String> algorithms) {
        ParsedRules reread = parser.parse(written, Map.copyOf(next), algorithms);
        handlers.forEach(reread::add);
        handlers.forEach(handler -> checkCallable(handler, reread));
        calls.forEach(call -> reread.byMethod().of(call.type(), call.method()));
        routes.forEach(reread.configured()::checkNamed);
        RulesInForce then = reread.inForce(endpoints);
        return new Reread(then, () -> {
            synchronized (this) {
                properties = written;
                parsed = reread;
                putInForce(then);
            }
        });
    }

    /**
     * From now on, operators have set these overrides of single keys.
     *
     * @param next finds them for the rules of that moment, by policy; called again for each other rules
     */
    public synchronized void override(Function<RulesInForce, Map<String, LiveOverrides>> next) {
        overrides = next;
        inForce = inForce.with(next.apply(inForce));
    }

    /** Tells others of all rules that are in force from now on, and are other ones. */
    public void whenReplaced(Consumer<RulesInForce> listener) {
        listeners.add(listener);
    }

    /** Handlers whose calls were not limited at the start have no proxy. */
    private void checkCallable(ParsedRules.Handler handler, ParsedRules reread) {
        boolean limited =
                !reread.byMethod().of(handler.type(), handler.method()).areNone();
        if (limited && parsed.byMethod().of(handler.type(), handler.method()).areNone()) {
            throw AnnotatedRules.mistake(
                    handler.type(),
                    handler.method(),
                    "its limits depend on arguments now, which they did not at the start; restart the application");
        }
    }

    /** The properties, apart from policies, that differ, and that are not read again. */
    public List<String> fixedThatDiffer(RateLimitProperties next) {
        return properties.fixedThatDiffer(next);
    }

    /** The policies of the configuration, as they were read last. */
    public Map<String, PolicyProperties> policies() {
        return properties.policies();
    }

    /** The same, and those in force that need no configuration. */
    public Map<String, PolicyProperties> policiesAndExtra() {
        return ExtraPolicies.and(properties.policies(), changes().keySet());
    }

    /** The rules in force or, if they lack a policy that needs no configuration, the configured rules with it. */
    public RulesInForce including(String policy) {
        RulesInForce now = inForce;
        return now.byPolicy().containsKey(policy) || !ExtraPolicies.contain(policy) ? now : configuredWith(policy);
    }

    /** The rules as they are configured, with a policy that needs no configuration, which is off. */
    public RulesInForce configuredWith(String policy) {
        return configured(policy, Map.of(policy, new RateLimitChange(null, null, null)));
    }

    /** The rules as they are configured, without changes. */
    public RulesInForce configured() {
        return configured("", Map.of());
    }

    @SuppressWarnings("ReferenceEquality") // those that were read anew are others
    private RulesInForce configured(String name, Map<String, RateLimitChange> changes) {
        RateLimitProperties now = properties;
        Configured known = configured;
        if (known == null || known.properties() != now) {
            known = new Configured(now, new ConcurrentHashMap<>());
            configured = known;
        }
        return known.rules()
                .computeIfAbsent(name, none -> read(now, changes, Map.of()).rules());
    }

    /** The changes in force, by policy. */
    public Map<String, RateLimitChange> changes() {
        return inForce.changes();
    }

    /**
     * Logs the rules in force, and warns about settings that are probably unintended.
     *
     * @param stages whether Spring Security runs between the stages
     * @param contextPath the context path of the application; the paths of rules are relative to it
     * @param servletPath the path of Spring MVC's servlet below it; the paths of rules are relative to this, too
     */
    public void report(boolean stages, String contextPath, String servletPath) {
        this.stages = stages;
        UnintendedPatterns unintended = new UnintendedPatterns(contextPath, servletPath);
        StartupReport report = new StartupReport(properties, stages, unintended, parsed.chargedAtCallsOnly());
        report.policies(parsed.configured(), parsed.annotated().named(), endpoints.haveRoutes());
        parsed.annotated().inline().forEach(report::active);
        parsed.off().forEach(StartupReport::off);
        report.warnOfOverrides(parsed.active());
        report.warnOfExemptKeys(parsed.active());
        if (!endpoints.haveRoutes()) {
            StartupReport.warnOfRoutes(parsed.active().stream());
        } else if (!endpoints.knowRoutes()) {
            StartupReport.warnOfUnknownRoutes(parsed.active().stream());
        }
        if (parsed.active().isEmpty()) {
            report.nothing();
        }
    }

    /** Warns about what depends on who the caller is, if probably nobody is authenticated. */
    public void warnOfCallers() {
        Stream<Rule> rules =
                Stream.of(parsed.configured().rules(), parsed.annotated().all()).flatMap(List::stream);
        StartupReport.warnOfCallers(rules, parsed.configured().exemptions());
    }

    /**
     * Warns about paths, methods and path variables that no route has.
     *
     * @param contextPath as for {@link #report}
     * @param servletPath as for {@link #report}
     */
    public void compareWith(Routes routes, String contextPath, String servletPath) {
        UnansweredPatterns patterns = new UnansweredPatterns(routes, new UnintendedPatterns(contextPath, servletPath));
        RulesInForce rules = inForce;
        patterns.warnOf(rules.anywhere().rules(), rules.exemptions().paths());
        rules.byPolicy().values().stream()
                .filter(rule ->
                        rule.match().annotated() && rules.mode(rule.policy().name()) != Mode.OFF)
                .forEach(rule -> UnansweredPatterns.warnOfVariables(
                        rule, patternsNaming(rule.policy(), rules), " whose annotation names it"));
        unanswered = patterns;
    }

    /** The patterns of the endpoints whose annotations name a policy. */
    private static List<String> patternsNaming(Policy policy, RulesInForce rules) {
        return rules.byEndpoint().entrySet().stream()
                .filter(entry -> entry.getValue().names(policy))
                .flatMap(entry -> Stream.ofNullable(entry.getKey().pattern()))
                .map(Object::toString)
                .toList();
    }

    /** What is probably wrong with a path; {@code null} if something may answer there, or nobody knows. */
    public @Nullable String remarkOnPath(String path) {
        UnansweredPatterns known = unanswered;
        return known == null ? null : known.remark(path);
    }

    /** Logs how much memory the keys of all rules may use. */
    public void reportMemory(InMemoryStore store) {
        StartupReport.memory(store, parsed.active());
    }

    /** Warns about policies whose full limit each instance applies while a store on another machine does not answer. */
    public void warnOfWholeShare() {
        StartupReport.warnOfWholeShare(
                properties, policiesInForce().stream().map(Policy::name).toList());
    }

    /** The names of all policies, including those that are off. */
    public Set<String> allNames() {
        return new TreeSet<>(inForce.byPolicy().keySet());
    }

    /** The policies in force. */
    public List<Policy> policiesInForce() {
        return parsed.active().stream().map(Rule::policy).distinct().toList();
    }

    /** The name of a policy that lets requests wait, before Spring Security if there is any; {@code null} if none does. */
    public @Nullable String firstToLetWait() {
        return configuredRules().stream()
                .filter(rule -> rule.onExceeded().waits())
                .min(Comparator.comparing(Rule::stage))
                .map(rule -> rule.policy().name())
                .orElse(null);
    }

    /** Whether a policy lets requests wait before Spring Security. */
    public boolean letWaitBeforeSecurity() {
        return configuredRules().stream()
                .anyMatch(rule -> rule.onExceeded().waits() && rule.stage() == Stage.BEFORE_SECURITY);
    }

    /** The configured rules, including those that are off. */
    List<Rule> configuredRules() {
        return parsed.configured().all();
    }

    /** Whether Spring Security runs between two stages. */
    public boolean haveStages() {
        return stages;
    }

    /** The rules in force at this moment. */
    public RulesInForce inForce() {
        return inForce;
    }
}
