package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.config.MethodRules;
import dev.ratelimit.spring.rules.decision.AppliedRules.Exemption;
import dev.ratelimit.spring.rules.decision.AppliedRules.Next;
import dev.ratelimit.spring.rules.key.Credentials;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.NoRequest;
import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.CallRules;
import dev.ratelimit.spring.rules.rule.EndpointRules;
import dev.ratelimit.spring.rules.rule.Exemptions;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.LiveOverrides;
import dev.ratelimit.spring.rules.rule.PlainKey;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.rule.Stage;
import dev.ratelimit.spring.rules.rule.StageRules;
import java.util.Collection;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * The rules that are in force at one moment. A request keeps those of its first stage, so that a change never gives it
 * some of the old rules and some of the new ones. Immutable.
 *
 * @param anywhere the rules of endpoints without annotations: the configured ones that are not off, the most specific
 *     first
 * @param byPolicy all rules, including those of annotations and those that are off, by the names of their policies
 * @param modes whether each of them is applied
 * @param changes what operators have changed of them, by policy
 * @param byEndpoint the rules of endpoints with annotations
 * @param stages what the rules of each stage have in common; under {@link Stage#AUTO}, those of all stages
 * @param named the configured policies where routes name them
 * @param byMethod the annotations, by method
 * @param exemptions which requests are exempt from all rules
 * @param credentials where requests may carry one
 * @param sources what requests need to find their address, endpoint and keys
 * @param overrides the overrides of single keys that operators have set, by policy
 */
public record RulesInForce(
        EndpointRules anywhere,
        Map<String, Rule> byPolicy,
        Map<String, Mode> modes,
        Map<String, RateLimitChange> changes,
        Map<Endpoint, EndpointRules> byEndpoint,
        Map<Stage, StageRules> stages,
        NamedRules named,
        MethodRules byMethod,
        Exemptions exemptions,
        Credentials credentials,
        RequestContext.Sources sources,
        Map<String, LiveOverrides> overrides) {

    /**
     * What is known of the policies that routes may name.
     *
     * @param rules those of each policy where a route names it; without those that are off
     * @param fetch what of requests has to be fetched for them
     */
    public record NamedRules(Map<String, List<Rule>> rules, IdentityHashMap<Rule, Reads> fetch) {

        static final NamedRules NONE = of(Map.of());

        static NamedRules of(Map<String, List<Rule>> rules) {
            return new NamedRules(
                    rules,
                    StageRules.fetchOf(
                            rules.values().stream().flatMap(List::stream).toList()));
        }
    }

    /** No rules for requests. */
    static RulesInForce none(MethodRules byMethod, RequestContext.Sources sources) {
        return new RulesInForce(
                EndpointRules.NONE,
                Map.of(),
                Map.of(),
                Map.of(),
                Map.of(),
                Map.of(),
                NamedRules.NONE,
                byMethod,
                Exemptions.NONE,
                new Credentials(List.of()),
                sources,
                Map.of());
    }

    /** The same rules with these overrides that operators have set. */
    RulesInForce with(Map<String, LiveOverrides> others) {
        return new RulesInForce(
                anywhere,
                byPolicy,
                modes,
                changes,
                byEndpoint,
                stages,
                named,
                byMethod,
                exemptions,
                credentials,
                sources,
                Map.copyOf(others));
    }

    /**
     * The rules of a policy wherever it applies, of requests and calls, at whatever cost.
     *
     * @throws UnknownPolicyException if there is none
     */
    public Stream<Rule> rulesOf(String policy) {
        Stream<Rule> calls = byMethod.all().stream().flatMap(called -> called.rules().stream());
        Stream<Rule> own = byEndpoint.values().stream().flatMap(rules -> rules.rules().stream());
        return Stream.concat(
                Stream.of(rule(policy)),
                Stream.concat(own, calls).filter(rule -> rule.policy().name().equals(policy)));
    }

    /** The limits of a key, whose owner has no plan. */
    public LimitOverride override(Rule rule, PlainKey key) {
        LiveOverrides.Entry live = liveOverride(rule, key);
        return live == null ? rule.overrides().ofKey(key) : live.override();
    }

    /** The limits of a key by each plan that its owner may have, and without one; empty if it has one of its own. */
    public Map<String, LimitOverride> overrideByPlan(Rule rule, PlainKey key) {
        return liveOverride(rule, key) == null ? rule.overrides().ofKeyByPlan(key) : Map.of();
    }

    /** The override of a key that an operator has set; {@code null} if there is none. */
    public LiveOverrides.@Nullable Entry liveOverride(Rule rule, PlainKey key) {
        LiveOverrides live = overrides.get(rule.policy().name());
        return live == null ? null : live.entry(key);
    }

    /** The override of a request that an operator has set; {@code null} if there is none. */
    public LiveOverrides.@Nullable Entry liveOverride(Rule rule, RequestContext context) {
        LiveOverrides live = overrides.get(rule.policy().name());
        return live == null ? null : live.entry(rule.key().of(context), context);
    }

    private void add(Rule rule, RequestContext context, AppliedRules to) {
        to.add(rule, overrides.isEmpty() ? null : overrides.get(rule.policy().name()), context);
    }

    /** The request as the rules see it. */
    public RequestContext context(WebRequest request) {
        return new RequestContext(request, sources);
    }

    /**
     * The rule of a policy.
     *
     * @throws UnknownPolicyException if there is none
     */
    public Rule rule(String policy) {
        Rule rule = byPolicy.get(policy);
        if (rule == null) {
            throw new UnknownPolicyException(policy, new TreeSet<>(byPolicy.keySet()));
        }
        return rule;
    }

    /**
     * What is in force of a policy.
     *
     * @throws UnknownPolicyException if there is none
     */
    public PolicyVersion version(String policy) {
        return PolicyVersion.of(rule(policy), mode(policy), changes.get(policy));
    }

    /** Whether a policy is applied. */
    public Mode mode(String policy) {
        return modes.getOrDefault(policy, Mode.ENFORCE);
    }

    /** Whether the request is a CORS preflight that cannot try a credential. */
    public boolean isFreePreflight(WebRequest request) {
        return isPreflight(request) && !credentials.mayBeIn(request);
    }

    /**
     * Whether the request is a CORS preflight as browsers send them, which is free unless it tries a credential: its URL
     * may be that of a request with a query.
     */
    boolean isPreflightOfBrowser(WebRequest request) {
        return isPreflight(request) && !credentials.mayBeBesideUrlOf(request);
    }

    private static boolean isPreflight(WebRequest request) {
        return request.method().equals("OPTIONS")
                && request.header(HttpHeaders.ORIGIN) != null
                && request.header(HttpHeaders.ACCESS_CONTROL_REQUEST_METHOD) != null;
    }

    /** What the rules of each stage have in common. */
    static Map<Stage, StageRules> stages(
            EndpointRules anywhere,
            Collection<EndpointRules> own,
            Exemptions exemptions,
            RequestContext.Sources sources) {
        List<String> headers = sources.addresses().headers();
        Map<Stage, StageRules> stages = new EnumMap<>(Stage.class);
        for (Stage stage : Stage.values()) {
            stages.put(stage, StageRules.of(stage == Stage.AUTO ? null : stage, anywhere, own, exemptions, headers));
        }
        return stages;
    }

    /** Those of this stage and, where the endpoint turns out that was a guess, what earlier stages have left to it. */
    private StageRules at(@Nullable Stage stage, RequestContext context) {
        return at(context.isAfterGuess() ? null : stage);
    }

    private StageRules at(@Nullable Stage stage) {
        return stages.getOrDefault(stage == null ? Stage.AUTO : stage, StageRules.NONE);
    }

    /**
     * What the rules of this stage read of requests; {@code null} for all stages.
     *
     * @see Reads
     */
    public Reads reads(@Nullable Stage stage) {
        return at(stage).reads();
    }

    /** What these policies read where a route names them. */
    Reads reads(List<String> policies) {
        Reads reads = exemptions.reads(true);
        for (String policy : policies) {
            for (Rule rule : named.rules().getOrDefault(policy, List.of())) {
                reads = reads.and(rule.reads());
            }
        }
        return withHeaders(reads);
    }

    /** What has to be fetched for the rules of this stage that apply to the path and the method of the request. */
    Reads toFetch(RequestContext context, @Nullable Stage stage) {
        StageRules all = at(stage, context);
        return all.fetch().isEmpty()
                ? all.exemptionsFetch()
                : toFetch(context, all.exemptionsFetch(), known(context, all).rules(), all.fetch());
    }

    /** The same for these policies where a route names them. */
    Reads toFetch(RequestContext context, List<String> policies) {
        Reads reads = at(null).exemptionsFetch();
        for (String policy : policies) {
            reads = toFetch(context, reads, named.rules().getOrDefault(policy, List.of()), named.fetch());
        }
        return reads;
    }

    private static Reads toFetch(
            RequestContext context, Reads before, List<Rule> rules, IdentityHashMap<Rule, Reads> fetch) {
        Reads reads = before;
        for (Rule rule : rules) {
            Reads ofRule = fetch.get(rule);
            if (ofRule != null && rule.match().mayMatch(context)) {
                reads = reads.and(ofRule);
            }
        }
        return reads;
    }

    /**
     * What a policy reads, wherever it applies, of requests and calls.
     *
     * @throws UnknownPolicyException if there is none
     */
    public Reads reads(String policy) {
        return withHeaders(rulesOf(policy).map(Rule::reads).reduce(Reads.NOTHING, Reads::and));
    }

    /** The address may be in a header. */
    private Reads withHeaders(Reads reads) {
        return StageRules.withAddress(reads, sources.addresses().headers());
    }

    /** The rules of the request's endpoint, as far as it is certain. */
    private EndpointRules known(RequestContext context, StageRules all) {
        // looking up an endpoint is expensive, and may be impossible this early
        return all.byEndpoint() && !context.isGuess() ? of(context) : anywhere;
    }

    /**
     * The rules of this stage, or of all stages, that apply to the request. What depends on an endpoint that is only a guess is
     * left to the stage that knows it.
     */
    public StageCharges applyTo(RequestContext context, @Nullable Stage stage, RateLimitStore store) {
        StageRules all = at(stage, context);
        if (stage == Stage.BEFORE_SECURITY && !all.any()) {
            return new StageCharges(store, new AppliedRules(Exemption.NONE, Next.STAGE), byPolicy);
        }
        EndpointRules rules = known(context, all);
        boolean guess = context.isGuess();
        boolean afterGuess = context.isAfterGuess();
        Next next = guess || stage == Stage.BEFORE_SECURITY ? Next.STAGE : afterStages(rules);
        AppliedRules applied = new AppliedRules(exemptions(rules, context, stage), next);
        List<Rule> before = rules.rules();
        for (int i = 0; i < before.size(); i++) {
            Rule rule = before.get(i);
            boolean here = (stage == null || rule.stage() == stage)
                    ? !(guess && isLeft(rule, context))
                    : afterGuess && wasLeft(rule, context);
            if (here && rule.match().matches(context)) {
                add(rule, context, applied);
            }
        }
        return new StageCharges(store, applied, byPolicy);
    }

    /** The rules that all stages have left to the one that knows the endpoint, which each of them could only guess. */
    StageCharges applyLeft(RequestContext context, RateLimitStore store) {
        EndpointRules rules = known(context, at(null));
        AppliedRules applied = new AppliedRules(exemptions(rules, context, null), afterStages(rules));
        for (Rule rule : rules.rules()) {
            if (wasLeft(rule, context) && rule.match().matches(context)) {
                add(rule, context, applied);
            }
        }
        return new StageCharges(store, applied, byPolicy);
    }

    private Next afterStages(EndpointRules rules) {
        if (!rules.call().isEmpty()) {
            return Next.CALL;
        }
        return sources.endpoints().haveRoutes() ? Next.STAGE : Next.NOTHING;
    }

    /** Whether a guess does not tell what the rule charges: the endpoint's annotation may name the policy at another cost. */
    private boolean isLeft(Rule rule, RequestContext context) {
        return rule.reads().includeEndpoint()
                || (at(null).annotated().contains(rule.policy().name()) && context.mayLeadToAnnotated());
    }

    /** Whether the stage of the rule has left it to the one that knows the endpoint, and charged no other of its policy. */
    private boolean wasLeft(Rule rule, RequestContext context) {
        return anywhere.rules().stream()
                .noneMatch(other -> other.stage() == rule.stage()
                        && other.policy().name().equals(rule.policy().name())
                        && !isLeft(other, context)
                        && other.match().matches(context));
    }

    /** The rules of these policies that apply to the request where a route names them. */
    public StageCharges applyNamed(RequestContext context, List<String> policies, RateLimitStore store) {
        EndpointRules own = at(null).byEndpoint() ? of(context) : anywhere;
        // a route may have several filters that name policies
        AppliedRules applied = new AppliedRules(exemptions(own, context, null), Next.STAGE);
        for (String policy : policies) {
            for (Rule rule : named.rules().getOrDefault(policy, List.of())) {
                if (rule.match().matches(context)) {
                    add(rule, context, applied);
                }
            }
        }
        return new StageCharges(store, applied, byPolicy);
    }

    /** The rules of the request's endpoint. */
    public EndpointRules of(RequestContext context) {
        return context.mayLeadToAnnotated() ? byEndpoint.getOrDefault(context.endpoint(), anywhere) : anywhere;
    }

    /** The rules that apply to the call of a method; nothing exempts calls outside of requests. */
    StageCharges applyTo(CallRules called, RequestContext context, RateLimitStore store) {
        EndpointRules own = byEndpoint.getOrDefault(context.endpoint(), anywhere);
        boolean exempt = !(context.request() instanceof NoRequest) && isExempt(own, context, null);
        AppliedRules applied = new AppliedRules(exempt ? Exemption.ALL : Exemption.NONE, Next.NOTHING);
        for (Rule rule : called.rules()) {
            if (rule.match().matches(context)) {
                add(rule, context, applied);
            }
        }
        return new StageCharges(store, applied, called.byPolicy());
    }

    /**
     * Whether the request is exempt. Before Spring Security, only its address exempts a request that may carry a
     * credential: passwords can be guessed on any path, and clients choose what conditions read. A request that Spring
     * Security lets pass gets a refund.
     */
    private boolean isExempt(EndpointRules own, RequestContext context, @Nullable Stage stage) {
        boolean authenticated = stage != Stage.BEFORE_SECURITY;
        if (exemptions.includeAddress(context)) {
            return true;
        }
        boolean exempt =
                own.exempt() || exemptions.includePath(context) || exemptions.conditionHolds(context, authenticated);
        return exempt && (authenticated || !credentials.mayBeIn(context.request()));
    }

    /**
     * Which rules do not charge the request. Rules that do not name a management endpoint do not charge requests to it.
     * However, before Spring Security, a request that may carry a credential is charged to a budget of its own caller,
     * because passwords can be guessed there, too. It gets a refund like that of an exempt path.
     */
    private Exemption exemptions(EndpointRules own, RequestContext context, @Nullable Stage stage) {
        if (isExempt(own, context, stage)) {
            return Exemption.ALL;
        }
        if (!exemptions.includeManagement(context)) {
            return Exemption.NONE;
        }
        boolean guess = stage == Stage.BEFORE_SECURITY && credentials.mayBeIn(context.request());
        // probes and looks at the metrics would be most of what such rules count
        return new Exemption(
                rule -> !rule.match().names(context) && !(guess && !rule.key().isShared()), false);
    }

    /** Whether the request is charged only by rules that name its management endpoint. */
    public boolean isFreeManagement(RequestContext context) {
        return exemptions.includeManagement(context);
    }
}
