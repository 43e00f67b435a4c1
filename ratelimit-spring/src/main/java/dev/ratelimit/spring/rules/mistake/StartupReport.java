package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.address.ForwardedHeader;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.config.PolicyRules;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.request.Condition;
import dev.ratelimit.spring.rules.rule.Exemptions;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.rule.Stage;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs what is limited, by what and where, and warns about settings that are valid but probably unintended. */
public final class StartupReport {

    private static final Logger log = LoggerFactory.getLogger(StartupReport.class);

    private final RateLimitProperties properties;
    private final boolean stages;
    private final UnintendedPatterns unintended;
    private final Set<String> calls;

    /**
     * Creates a report.
     *
     * @param stages whether Spring Security runs between the stages
     * @param unintended recognizes patterns that match other paths than intended
     * @param calls the policies that have no stage where annotations name them, because they limit calls of methods
     */
    public StartupReport(
            RateLimitProperties properties, boolean stages, UnintendedPatterns unintended, Set<String> calls) {
        this.properties = properties;
        this.stages = stages;
        this.unintended = unintended;
        this.calls = calls;
    }

    public void nothing() {
        log.info(
                "No rate limits: {}",
                properties.policies().isEmpty()
                        ? "there is no policy under ratelimit.policies and no @RateLimited method"
                        : "every policy has mode: off");
    }

    /**
     * Logs the configured policies.
     *
     * @param annotated those that an annotation names
     * @param routes whether there are routes, which may name any, also later
     */
    public void policies(PolicyRules policies, Set<String> annotated, boolean routes) {
        policies.rules()
                .forEach(rule -> policy(rule, annotated.contains(rule.policy().name()), routes));
        policies.rules().forEach(this::warnOfKey);
        log.info("Rate limits identify clients by {}", policies.clientAddress());
        warnOfForwarding();
        warnOfExemptions(policies.exemptions());
    }

    /** Logs a rule in force. */
    public void active(Rule rule) {
        active(rule, rule.describe());
    }

    private void active(Rule rule, String described) {
        String stage = rule.stage() == Stage.BEFORE_SECURITY ? "before" : "after";
        boolean call = rule.match().annotated() && calls.contains(rule.policy().name());
        log.info("Rate limit {}{}", described, stages && !call ? ", " + stage + " Spring Security" : "");
    }

    /** Logs a rule that is off. */
    public static void off(Rule rule) {
        log.info("Rate limit {}, but it has mode: off", rule.describe());
    }

    /** Logs how much memory the keys of these rules may use. */
    public static void memory(InMemoryStore store, List<Rule> rules) {
        long bytes = rules.stream()
                .map(Rule::policy)
                .distinct()
                .mapToLong(store::maxBytes)
                .sum();
        String growing = Stream.of(
                        grow(rules, false) ? "; sliding logs add 8 bytes per remembered permit" : "",
                        grow(rules, true) ? "; concurrency limits add 8 bytes per permit in use" : "")
                .collect(Collectors.joining());
        if (bytes > 0) {
            log.info(
                    "Rate limits use at most {} of memory if every limit reaches max-keys{}",
                    (bytes >> 20) + 1 + " MB",
                    growing);
        }
    }

    private static boolean grow(List<Rule> rules, boolean concurrency) {
        return rules.stream()
                .filter(rule -> rule.holds() == concurrency)
                .flatMap(rule -> rule.policy().algorithms().stream())
                .anyMatch(LimitAlgorithm::grows);
    }

    private void policy(Rule rule, boolean annotated, boolean routes) {
        boolean named = annotated || routes;
        String reason = unintended.reason(rule.match().paths(), rule.match().exceptPaths());
        if (rule.match().annotated() && !named) {
            log.warn("Rate limit {}, but no @RateLimited names it, so it limits nothing", rule.describe());
        } else if (rule.match().excludesEverything()) {
            log.warn("Rate limit {}, whose except-paths cover all its paths: it limits nothing", rule.describe());
        } else if (rule.cost().written().equals("0") && !named) {
            log.warn("Rate limit {}, so it limits nothing", rule.describe());
        } else if (reason != null) {
            log.warn("Rate limit {}, but {}", rule.describe(), reason);
        } else {
            active(rule, annotated || !routes ? rule.describe() : rule.describeWhereRouted());
        }
    }

    private void warnOfKey(Rule rule) {
        PolicyProperties policy = properties.policies().get(rule.policy().name());
        if (policy != null) {
            UnintendedKeys.of(rule, policy.overrides().keySet()).forEach(log::warn);
        }
    }

    /** Warns about rules whose overrides and exempt keys lift the limit for everybody. */
    public void warnOfOverrides(List<Rule> rules) {
        for (Rule rule : rules) {
            AddressRange.everything(rule.overrides().unlimitedNetworks())
                    .forEach(everything -> log.warn(
                            "Rate limit '{}' has overrides or exempt keys without a limit: {}, so it limits nobody",
                            rule.policy().name(),
                            everything));
        }
    }

    /** Warns about exempt keys that none of these rules has. */
    public void warnOfExemptKeys(List<Rule> rules) {
        UnintendedKeys.never(properties.exempt().keys(), rules)
                .forEach(value -> log.warn(
                        "ratelimit.exempt.keys: no key can be {}, as {}, so nobody is exempt. Write addresses"
                                + " to ratelimit.exempt.addresses, and conditions, such as on a header, to ratelimit.exempt.when",
                        Quotation.of(value),
                        UnintendedKeys.partsOf(rules)));
    }

    /** Warns about rules whose key is by route, in an application without routes. */
    public static void warnOfRoutes(Stream<Rule> rules) {
        warnOfRoutes(
                rules, "nothing here has routes, as Spring Cloud Gateway does", "Write endpoint in place of route");
    }

    /** Warns about rules whose key is by route, where routes are known only to policies that they name. */
    public static void warnOfUnknownRoutes(Stream<Rule> rules) {
        warnOfRoutes(
                rules.filter(rule -> !rule.match().annotated()),
                "it applies before the route is known",
                "Name it in the filter RateLimit of routes, and write match.annotated: true");
    }

    private static void warnOfRoutes(Stream<Rule> rules, String reason, String remedy) {
        rules.filter(rule -> rule.key().parts().stream().anyMatch(part -> part.kind() == KeyKind.ROUTE))
                .map(rule -> "Rate limit '" + rule.policy().name() + "' is " + rule.key() + ", but " + reason + "; "
                        + rule.key().ifAlwaysMissing() + ". " + remedy)
                .distinct()
                .forEach(log::warn);
    }

    /** Warns about what depends on who the caller is, in an application that probably authenticates nobody. */
    public static void warnOfCallers(Stream<Rule> rules, Exemptions exemptions) {
        Stream.concat(rules.flatMap(UnknownCallers::of), UnknownCallers.of(exemptions))
                .distinct()
                .forEach(log::warn);
    }

    /** Warns about policies whose full limit each instance applies while a shared store does not answer. */
    public static void warnOfWholeShare(RateLimitProperties properties, List<String> policies) {
        Map<String, OnStoreFailure> onStoreFailure = properties.onStoreFailure();
        // policies of annotations cannot set on-store-failure
        List<String> local = policies.stream()
                .filter(name -> onStoreFailure.getOrDefault(name, OnStoreFailure.LOCAL) == OnStoreFailure.LOCAL)
                .toList();
        RateLimitProperties.Remote store = properties.store().remote();
        if (store != null && store.localShare() == 1 && !local.isEmpty()) {
            log.warn(
                    "While {} does not answer, each instance admits the full limit of {}, so all instances together"
                            + " admit a multiple. Set ratelimit.store.{}.local-share to 1/instances, such as 0.5 for"
                            + " two, or on-store-failure of these policies to deny or allow",
                    store.title(),
                    String.join(", ", local),
                    properties.store().type().name().toLowerCase(Locale.ROOT));
        }
    }

    private void warnOfExemptions(Exemptions exemptions) {
        if (exemptions.includeAllPaths()) {
            log.warn("ratelimit.exempt.paths: {} is every path, so nothing is limited", exemptions.paths());
        }
        String reason = unintended.reason(exemptions.paths());
        if (reason != null) {
            log.warn("ratelimit.exempt.paths: {}", reason);
        }
        Condition when = exemptions.when();
        if (when != null && when.isAlways(true)) {
            log.warn("ratelimit.exempt.when: {} is always true, so nothing is limited", when.written());
        }
        if (when != null && when.chosenByClients()) {
            log.warn(
                    "ratelimit.exempt.when: {} depends only on what clients send, so whoever finds out what to send has no"
                            + " limits. Check #principal or #ip, too",
                    when.written());
        }
        warnOfEverything(
                "ratelimit.exempt.addresses",
                "so nobody is limited",
                properties.exempt().addresses().stream().map(AddressRange::parse));
        List<AddressRange> proxies = proxies().toList();
        properties.exempt().addresses().stream()
                .map(AddressRange::parse)
                .filter(exempt -> proxies.stream().anyMatch(exempt::overlaps))
                .forEach(exempt -> log.warn(
                        "ratelimit.exempt.addresses: {} includes addresses of ratelimit.trusted-proxies, which are never"
                                + " exempt: otherwise a client behind the proxy could become exempt by sending an unreadable address",
                        exempt));
    }

    private Stream<AddressRange> proxies() {
        return properties.trustedProxies().stream().map(AddressRange::parseProxy);
    }

    private static void warnOfEverything(String property, String consequence, Stream<AddressRange> ranges) {
        AddressRange.everything(ranges.toList())
                .forEach(everything -> log.warn("{}: {}, {}", property, everything, consequence));
    }

    private void warnOfForwarding() {
        warnOfEverything("ratelimit.trusted-proxies", "so anyone can choose their client address", proxies());
        if (properties.trustedProxies().isEmpty() && properties.forwardedHeader() != ForwardedHeader.ANY) {
            log.warn(
                    "ratelimit.forwarded-header has no effect without ratelimit.trusted-proxies: all clients behind a proxy"
                            + " share its address. Name your proxies");
        }
        if (!properties.trustedProxies().isEmpty() && properties.forwardedHeader() == ForwardedHeader.ANY) {
            log.warn(
                    "Proxies that write only one of Forwarded and X-Forwarded-For pass on the other as the client sent it."
                            + " Set ratelimit.forwarded-header to the one that your proxies write");
        }
    }
}
