package dev.ratelimit.simulator.config;

import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.simulator.endpoint.LogEndpoints;
import dev.ratelimit.simulator.recording.Recording;
import dev.ratelimit.simulator.traffic.Field.Kind;
import dev.ratelimit.simulator.traffic.LogSummary;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.path.PathPatterns;
import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import dev.ratelimit.spring.rules.rule.Rule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;

/**
 * The limits of a configuration, without the policies that read what a log has not recorded: what they would decide is
 * unknown.
 *
 * @param environment the properties
 * @param properties those of rate limits
 * @param rules which are in force
 * @param endpoints finds the endpoints of requests
 * @param leftOut what the log lacks of the policies that are left out, by name
 * @param notes what a reader of the results must know
 * @param written rules as they are written, by policy, where others decide in their place; otherwise empty
 */
public record SimulatedLimits(
        Environment environment,
        RateLimitProperties properties,
        RequestRules rules,
        LogEndpoints endpoints,
        Map<String, List<String>> leftOut,
        List<String> notes,
        Map<String, Rule> written) {

    /** What tells that a request is a free preflight. */
    private static final Set<String> PREFLIGHT =
            Set.of("origin", "access-control-request-method", "authorization", "cookie");

    /**
     * Reads limits, as an application does at its start.
     *
     * @param source where the properties come from
     * @param endpoints finds the endpoints of requests
     * @throws ConfigurationMistakeException if an application would not start with them
     */
    public static SimulatedLimits of(ConfigurationSource source, LogEndpoints endpoints) {
        Environment environment = source.environment();
        RateLimitProperties properties = ConfigurationSource.bind(environment);
        RequestRules rules = read(environment, properties, endpoints);
        return new SimulatedLimits(environment, properties, rules, endpoints, Map.of(), List.of(), Map.of());
    }

    /**
     * The same limits for a log.
     *
     * @param log what was found in it
     * @param users whether the user has said where the names of callers are, which may be missing in all lines
     * @param included policies that are not left out, whatever they read; what the log lacks is missing in each request
     */
    public SimulatedLimits on(LogSummary log, boolean users, Set<String> included) {
        RecordedFacts facts = new RecordedFacts(log, users, endpoints.areKnown());
        Recording recording = facts.recording();
        return recording == null
                ? without(facts, included, Map.of())
                : onRecording(new RecordedPolicies(recording), facts, included);
    }

    private SimulatedLimits onRecording(RecordedPolicies recorded, RecordedFacts facts, Set<String> included) {
        SimulatedLimits all = new SimulatedLimits(
                        environment, properties, rules, endpoints.ofRecording(), leftOut, notes, written)
                .withPolicies(recorded.withAnnotated(properties.policies()));
        Map<String, Rule> rulesAsWritten = all.rules.inForce().byPolicy();
        List<String> others = new ArrayList<>();
        Map<String, PolicyProperties> decided = recorded.asRecorded(all.properties.policies(), rulesAsWritten, others);
        SimulatedLimits limits = all.with(all.properties.withPolicies(decided), rulesAsWritten);
        SimulatedLimits on = limits.without(facts, included, recorded.lack(rulesAsWritten, included, facts.paths()));
        others.stream()
                .filter(policy -> !on.leftOut.containsKey(policy))
                .forEach(policy -> on.notes.add("Policy '" + policy
                        + "' has another key or concerns other requests than when they were recorded, so that the patterns"
                        + " of paths, the addresses and the names of callers that were recorded decide"));
        PathPatterns exempt = rules.inForce().exemptions().paths();
        Set<String> unknown = facts.paths().undecidedBy(exempt);
        if (!unknown.isEmpty()) {
            on.notes.add("The paths of requests to " + String.join(" and ", unknown)
                    + " were not recorded, so that they are not exempt by ratelimit.exempt.paths from policies that are not as"
                    + " recorded");
        }
        recorded.byPaths(rulesAsWritten).forEach((policy, rule) -> {
            Set<String> placeless = facts.paths().placelessFor(rule.match());
            if (!placeless.isEmpty() && !on.leftOut.containsKey(policy)) {
                on.notes.add("The paths of requests that led to no endpoint (" + String.join(", ", placeless)
                        + ") were not recorded, so that no path of policy '" + policy + "' matches them");
            }
        });
        return on;
    }

    /**
     * The same limits without the policies that read what a log lacks.
     *
     * @param lacking what it lacks for other reasons, by policy
     */
    private SimulatedLimits without(RecordedFacts facts, Set<String> included, Map<String, List<String>> lacking) {
        Map<String, List<String>> without = new TreeMap<>(lacking);
        RulesInForce now = rules.inForce();
        for (String policy : rules.allNames()) {
            if (now.mode(policy) != Mode.OFF && !included.contains(Rule.withoutConcurrency(policy))) {
                Reads reads = now.rulesOf(policy).map(Rule::reads).reduce(Reads.NOTHING, Reads::and);
                List<String> lack = facts.lackOf(reads);
                if (!lack.isEmpty()) {
                    without.computeIfAbsent(Rule.withoutConcurrency(policy), none -> new ArrayList<>())
                            .addAll(lack);
                }
            }
        }
        without.keySet().removeIf(policy -> now.mode(policy) == Mode.OFF);
        SimulatedLimits others =
                with((name, policy) -> without.containsKey(name) ? ChangedPolicy.inMode(policy, Mode.OFF) : policy);
        List<String> more = new ArrayList<>();
        others.addNotes(facts, more);
        return new SimulatedLimits(environment, others.properties, others.rules, endpoints, without, more, written);
    }

    /**
     * Checks that there is any policy: the file may be the wrong one.
     *
     * @param source where the limits come from
     * @return these limits
     * @throws ConfigurationMistakeException if there is none, in no mode
     */
    public SimulatedLimits requirePolicies(ConfigurationSource source) {
        if (properties.policies().isEmpty()) {
            String files = source.files().stream().map(Path::toString).collect(Collectors.joining(", "));
            throw new ConfigurationMistakeException(
                    "there is no policy under ratelimit.policies in " + (files.isEmpty() ? "the properties" : files));
        }
        return this;
    }

    /** Whether the configuration has the policy; otherwise, an annotation has written it out. */
    public boolean isConfigured(String policy) {
        return ConfigurationSource.bind(environment).policies().containsKey(policy);
    }

    /** Whether a policy has the algorithm. */
    public boolean hasAlgorithm(String policy, Algorithm algorithm) {
        PolicyProperties written = properties.policies().get(policy);
        return written != null && written.algorithm().equals(algorithm.toString());
    }

    /** Whether the log is a recording, which has hashes in place of keys. */
    public boolean areRecorded() {
        return !written.isEmpty();
    }

    /** A rule as people have written it, with the limits that are tried out. */
    public Rule asWritten(Rule rule) {
        Rule before = written.get(rule.policy().name());
        return before == null
                ? rule
                : new Rule(
                        rule.policy(),
                        before.match(),
                        before.key(),
                        before.overrides(),
                        before.cost(),
                        rule.stage(),
                        rule.free(),
                        rule.jitter(),
                        rule.format(),
                        rule.onExceeded(),
                        rule.shadow());
    }

    /** The same limits with changed policies. */
    public SimulatedLimits with(BiFunction<String, PolicyProperties, PolicyProperties> change) {
        Map<String, PolicyProperties> policies = new LinkedHashMap<>();
        properties.policies().forEach((name, policy) -> policies.put(name, change.apply(name, policy)));
        return withPolicies(policies);
    }

    /** The same limits with other policies. */
    public SimulatedLimits withPolicies(Map<String, PolicyProperties> policies) {
        return with(properties.withPolicies(policies), written);
    }

    private SimulatedLimits with(RateLimitProperties changed, Map<String, Rule> asWritten) {
        RequestRules read = read(environment, changed, endpoints);
        return new SimulatedLimits(environment, changed, read, endpoints, leftOut, notes, asWritten);
    }

    private static RequestRules read(Environment environment, RateLimitProperties properties, LogEndpoints endpoints) {
        return ConfigurationSource.reported(environment, () -> {
            RequestRules read = new RequestRules(
                    properties,
                    StandInBeans.of(properties.policies().values()),
                    environment::resolveRequiredPlaceholders,
                    limit -> {});
            read.enforce(endpoints);
            return read;
        });
    }

    private void addNotes(RecordedFacts facts, List<String> notes) {
        List<Rule> active = rules.policiesInForce().stream()
                .map(policy -> rules.inForce().rule(policy.name()))
                .toList();
        if (!properties.enabled()) {
            notes.add("ratelimit.enabled is false: the application limits nothing");
        }
        for (Rule rule : active) {
            String name = "Policy '" + Rule.withoutConcurrency(rule.policy().name()) + "' ";
            if (rule.holds() && !facts.has(Kind.DURATION)) {
                notes.add(name + "limits requests at the same time, but the log has no durations, so that it refuses"
                        + " nobody here (--field duration=FIELD)");
            }
            if (rule.free() != null && !facts.has(Kind.STATUS)) {
                notes.add(name + "depends on statuses, but the log has none, so that all requests cost here");
            }
            if (rule.match().annotated()) {
                notes.add(name
                        + "applies only where an annotation or a route names it, which a log does not have, so that it"
                        + " charges nothing here");
            }
        }
        Reads exempt = rules.inForce().exemptions().reads(true);
        List<String> lack = facts.lackOf(exempt);
        if (!lack.isEmpty()) {
            notes.add("ratelimit.exempt reads what the log lacks, so that nobody is exempt because of it: "
                    + String.join(", ", lack));
        }
        boolean proxies = !properties.trustedProxies().isEmpty();
        if (proxies && rules.inForce().sources().addresses().headers().stream().noneMatch(facts::hasHeader)) {
            notes.add("The addresses in the log are taken for those of the clients: it does not have the headers of the"
                    + " trusted proxies (--header X-Forwarded-For=FIELD)");
        }
    }

    /** The names of the headers that any decision depends on, in lower case; {@code null} if it may be any. */
    public @Nullable Set<String> headers() {
        RulesInForce now = rules.inForce();
        Reads reads = now.exemptions().reads(true);
        for (String policy : rules.allNames()) {
            reads = reads.and(now.reads(policy));
        }
        if (reads.includeAll(Fact.HEADER) || reads.include(Fact.BEAN)) {
            return null;
        }
        Set<String> names = new TreeSet<>(PREFLIGHT);
        names.addAll(reads.names(Fact.HEADER));
        return Set.copyOf(names);
    }

    /** The path that the log's paths begin with, and the limits' do not. */
    public static String contextPath(Environment environment) {
        String context = environment.getProperty(
                "server.servlet.context-path", environment.getProperty("spring.webflux.base-path", ""));
        String servlet = environment.getProperty("spring.mvc.servlet.path", "");
        String all = context + servlet;
        return all.endsWith("/") ? all.substring(0, all.length() - 1) : all;
    }

    /** The path below which the actuator is; empty if it has its own port. */
    public static String managementPath(Environment environment) {
        String port = environment.getProperty("management.server.port", "");
        boolean own = !port.isEmpty() && !port.equals(environment.getProperty("server.port", "8080"));
        return own ? "" : environment.getProperty("management.endpoints.web.base-path", "/actuator");
    }
}
