package dev.ratelimit.spring.rules.config;

import dev.ratelimit.Limit;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.address.ClientAddress;
import dev.ratelimit.spring.rules.expression.RequestExpression;
import dev.ratelimit.spring.rules.key.KeyParser;
import dev.ratelimit.spring.rules.key.Resolvers;
import dev.ratelimit.spring.rules.path.PathPatterns;
import dev.ratelimit.spring.rules.refusal.RefusalFormat;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.Exemptions;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.rule.WatchedResults;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.StringValueResolver;

/** The configuration as rules. Immutable. */
public final class PolicyRules {

    private final RateLimitProperties properties;
    private final RuleContext context;
    private final List<Rule> rules = new ArrayList<>();
    private final List<Rule> all = new ArrayList<>();
    private final ClientAddress clientAddress;
    private final Exemptions exemptions;

    /**
     * Reads the configuration.
     *
     * @param changes what replaces the properties of policies, by policy; a policy that needs no configuration is read only
     *     if it is among them
     * @param algorithms what replaces the algorithms of policies, by policy
     * @param beans the beans that keys and plans may refer to
     * @param store throws an {@link IllegalArgumentException} for a limit that the store cannot keep
     * @throws RateLimitConfigurationException the first mistake; suppressed, the first ones of other policies
     */
    public PolicyRules(
            RateLimitProperties properties,
            Map<String, RateLimitChange> changes,
            Map<String, String> algorithms,
            ListableBeanFactory beans,
            Consumer<Limit> store) {
        this.properties = properties.withPolicies(ExtraPolicies.and(properties.policies(), changes.keySet()));
        Resolvers resolvers = new Resolvers(beans);
        this.context = new RuleContext(
                new KeyParser(resolvers),
                resolvers,
                properties.exempt().keys(),
                ResponseParser.parse("ratelimit.response", properties.response(), RefusalFormat.DEFAULT),
                properties.ignoreCase(),
                store,
                beans.getBeanProvider(WatchedResults.class).getIfAvailable(() -> result -> false),
                ExtraPolicies.placed(properties.policies(), changes),
                algorithms);
        parseRules();
        this.clientAddress = new ClientAddress(
                ranges(
                        new Section("ratelimit"),
                        "trusted-proxies",
                        properties.trustedProxies(),
                        AddressRange::parseProxy),
                properties.forwardedHeader());
        this.exemptions = parseExemptions();
    }

    private void parseRules() {
        Mistakes mistakes = new Mistakes();
        properties.policies().forEach((name, policy) -> mistakes.collect(() -> parseRules(name, policy)));
        mistakes.report();
        rules.sort(Comparator.comparingInt((Rule rule) -> rule.key().parts().size())
                .reversed());
    }

    private void parseRules(String name, PolicyProperties policy) {
        List<Rule> own = new PolicyParser(name, policy, context).parse();
        all.addAll(own);
        own.stream().filter(rule -> modeOf(rule.policy().name()) != Mode.OFF).forEach(rules::add);
        if (own.size() > 1 && properties.policies().containsKey(Rule.concurrencyOf(name))) {
            throw Section.ofPolicy(Rule.concurrencyOf(name))
                    .mistake(
                            "",
                            null,
                            "this is also the name of the concurrency limit of policy " + Quotation.of(name)
                                    + "; rename one of the two");
        }
    }

    /** Whether the policy is applied; {@code null} if it is not configured. */
    public @Nullable Mode modeOf(String name) {
        String configured = properties.policies().containsKey(name) ? name : Rule.withoutConcurrency(name);
        PolicyProperties policy = properties.policies().get(configured);
        return policy == null ? null : context.modeOf(name, context.modeOf(configured, policy.mode()));
    }

    private Exemptions parseExemptions() {
        RateLimitProperties.Exempt exempt = properties.exempt();
        Section section = new Section("ratelimit.exempt");
        String when = exempt.when();
        return new Exemptions(
                ranges(section, "addresses", exempt.addresses(), AddressRange::parse),
                exemptPaths(section),
                when == null ? null : section.checked("when", when, () -> RequestExpression.condition(when, false)),
                exempt.management());
    }

    private PathPatterns exemptPaths(Section section) {
        List<String> texts = PathPatterns.rejoined(properties.exempt().paths());
        texts.forEach(text -> section.checked("paths", text, () -> new PathPatterns(List.of(text), true)));
        return new PathPatterns(texts, true);
    }

    private static List<AddressRange> ranges(
            Section section, String property, List<String> texts, Function<String, AddressRange> reader) {
        return texts.stream()
                .map(text -> section.checked(property, text, () -> reader.apply(text)))
                .toList();
    }

    /** What replaces the properties of policies, by policy. */
    public Map<String, RateLimitChange> changes() {
        return context.changes().entrySet().stream()
                .filter(change -> !change.getValue().toString().isEmpty())
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /** The rules of all policies that are not off, the most specific first. */
    public List<Rule> rules() {
        return Collections.unmodifiableList(rules);
    }

    /** The rules of all policies that are off. */
    public Stream<Rule> off() {
        return all.stream().filter(rule -> !rules.contains(rule));
    }

    /** The rules of each policy where a route names it, by its name; without those that are off. */
    public Map<String, List<Rule>> named() {
        return rules.stream()
                .map(Rule::whereNamed)
                .collect(Collectors.groupingBy(
                        rule -> properties.policies().containsKey(rule.policy().name())
                                ? rule.policy().name()
                                : Rule.withoutConcurrency(rule.policy().name())));
    }

    /**
     * Checks the policies that a route names.
     *
     * @throws RateLimitConfigurationException at the first that does not exist or does not fit
     */
    public void checkNamed(String route, Collection<String> policies) {
        String where = "route " + route;
        if (policies.isEmpty()) {
            throw new RateLimitConfigurationException(
                    where,
                    null,
                    "it names no policy; write the names of those that limit it, of the ones under ratelimit.policies");
        }
        for (String policy : policies) {
            Set<String> known = properties.policies().keySet();
            if (!known.contains(policy)) {
                throw new RateLimitConfigurationException(where, policy, AnnotatedRules.noPolicy(policy, known));
            }
            all.stream()
                    .filter(rule -> rule.policy().name().equals(policy) && rule.needsArguments())
                    .forEach(rule -> {
                        throw new RateLimitConfigurationException(
                                where,
                                policy,
                                "policy " + Quotation.of(policy) + " is " + rule.key()
                                        + ", which depends on the arguments of a method; name it in @RateLimited");
                    });
        }
    }

    /** The rules of all policies. */
    public List<Rule> all() {
        return Collections.unmodifiableList(all);
    }

    /**
     * Creates the rules of annotations, which may refer to the policies.
     *
     * @param placeholders resolves placeholders in the attributes of annotations
     */
    public AnnotatedRules annotated(StringValueResolver placeholders) {
        return new AnnotatedRules(context, rules, properties.policies().keySet(), placeholders);
    }

    /** Which requests are exempt from all policies. */
    public Exemptions exemptions() {
        return exemptions;
    }

    /** Finds the addresses of clients. */
    public ClientAddress clientAddress() {
        return clientAddress;
    }

    /** Whatever requests need to find their address, endpoint and keys. */
    public RequestContext.Sources sources(EndpointResolver endpoints) {
        return new RequestContext.Sources(
                clientAddress,
                endpoints,
                () -> new KeyEncoder(properties.ignoreCase(), properties.ipv4Prefix(), properties.ipv6Prefix()));
    }
}
