package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.Limit;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.AddressRange;
import dev.ratelimit.spring.ForwardedHeader;
import dev.ratelimit.spring.Rule;
import dev.ratelimit.spring.Stage;
import dev.ratelimit.spring.config.PolicyProperties;
import dev.ratelimit.spring.config.PolicyRules;
import dev.ratelimit.spring.config.RateLimitProperties;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.core.env.Environment;

/** Says in the log what is limited, by what and where; and warns of what is allowed, but hardly meant. */
final class StartupReport {

    private static final Logger log = LoggerFactory.getLogger(ActiveRules.class);

    /** The order of the first stage, unless it is moved. */
    static final int FIRST_STAGE = -110;

    private static final String STRATEGY = "server.forward-headers-strategy";

    private final Environment environment;
    private final RateLimitProperties properties;

    /** Whether there is something between the stages. */
    private final boolean stages;

    StartupReport(Environment environment, RateLimitProperties properties, boolean stages) {
        this.stages = stages;
        this.environment = environment;
        this.properties = properties;
    }

    void disabled() {
        log.info("No rate limits: ratelimit.enabled is false");
    }

    /** Tells of the policies of the configuration; {@code named} are those that an annotation names. */
    void policies(PolicyRules policies, Set<String> named) {
        policies.rules()
                .forEach(rule -> policy(rule, named.contains(rule.policy().name())));
        log.info("Rate limits take for a client's address {}", policies.clientAddress());
        warnOfForwarding();
        warnOfExemptions();
    }

    /** Tells of a rule that is in force. */
    void active(Rule rule) {
        String stage = rule.stage() == Stage.BEFORE_SECURITY ? "before" : "after";
        log.info("Rate limit {}{}", rule.describe(), stages ? ", " + stage + " Spring Security" : "");
    }

    /** Tells what the keys of these rules may take in memory. */
    void memory(InMemoryStore store, List<Rule> rules) {
        long bytes = rules.stream()
                .map(Rule::policy)
                .distinct()
                .mapToLong(store::mostBytes)
                .sum();
        boolean logs =
                rules.stream().flatMap(rule -> rule.policy().limits().stream()).anyMatch(Limit::grows);
        if (bytes > 0) {
            log.info(
                    "Rate limits take at most {} of memory, when all their max-keys are used{}",
                    (bytes >> 20) + 1 + " MB",
                    logs ? "; sliding logs 8 bytes more for each permit that they remember" : "");
        }
    }

    private void policy(Rule rule, boolean named) {
        String contextPath = environment.getProperty("server.servlet.context-path", "");
        if (rule.match().annotated() && !named) {
            log.warn("Rate limit {}, but no @RateLimited names it: it limits nothing", rule.describe());
        } else if (rule.match().isImpossible()) {
            log.warn("Rate limit {}, which leaves no path: it limits nothing", rule.describe());
        } else if (rule.price().written().equals("0") && !named) {
            log.warn("Rate limit {}: it limits nothing", rule.describe());
        } else if (contextPath.length() > 1
                && rule.match().paths().texts().stream().anyMatch(path -> path.startsWith(contextPath + "/"))) {
            log.warn("Rate limit {}, but paths are below the context path {}", rule.describe(), contextPath);
        } else {
            active(rule);
        }
    }

    /** Tells of policies that each instance decides with the whole limit while Redis does not answer. */
    void warnOfWholeShare(List<Rule> rules) {
        List<String> local = rules.stream()
                .map(rule -> rule.policy().name())
                .filter(this::isLocal)
                .distinct()
                .toList();
        if (properties.store().redis().localShare() == 1 && !local.isEmpty()) {
            log.warn(
                    "While Redis does not answer, each instance permits the full limit of {}, so all of them together a"
                            + " multiple. Set ratelimit.store.redis.local-share to 1/instances, such as 0.5 for two, or"
                            + " on-store-failure of these policies to deny or allow",
                    String.join(", ", local));
        }
    }

    /** Policies of annotations have no choice of their own. */
    private boolean isLocal(String policy) {
        PolicyProperties configured = properties.policies().get(policy);
        return configured == null || configured.onStoreFailure() == OnStoreFailure.LOCAL;
    }

    /** A filter that changes the path has to come before the limits, which see another one otherwise. */
    void warnOfRewriting(boolean rewritesPaths) {
        if (rewritesPaths) {
            log.warn(
                    "There is a UrlHandlerFilter, which changes paths: order it before the limits (below {}), or its paths"
                            + " are a way around them",
                    FIRST_STAGE);
        }
    }

    private void warnOfExemptions() {
        if (properties.exempt().paths().stream().anyMatch(path -> path.strip().equals("/**"))) {
            log.warn("ratelimit.exempt.paths: /** is every path, so nothing is limited");
        }
        warnOfEverything(
                "ratelimit.exempt.addresses",
                "so nobody is limited",
                properties.exempt().addresses());
    }

    private static void warnOfEverything(String property, String consequence, List<String> ranges) {
        ranges.stream()
                .map(AddressRange::parse)
                .filter(AddressRange::isEverything)
                .forEach(range -> log.warn("{}: {} is everybody, {}", property, range, consequence));
    }

    private void warnOfForwarding() {
        warnOfEverything(
                "ratelimit.trusted-proxies", "so anyone can choose their client address", properties.trustedProxies());
        warnOfContainer(!properties.trustedProxies().isEmpty());
        if (!properties.trustedProxies().isEmpty() && properties.forwardedHeader() == ForwardedHeader.ANY) {
            log.warn(
                    "Proxies that write only one of Forwarded and X-Forwarded-For pass the other on as the client sent it:"
                            + " say in ratelimit.forwarded-header which one yours write");
        }
    }

    private void warnOfContainer(boolean proxies) {
        String strategy = environment.getProperty(STRATEGY, "");
        if (strategy.equalsIgnoreCase("framework") && !proxies) {
            log.warn(
                    "{} is framework: Spring believes X-Forwarded-For of anybody, so anyone can choose their client"
                            + " address. Name your proxies in ratelimit.trusted-proxies",
                    STRATEGY);
        } else if (strategy.equalsIgnoreCase("native")
                || (strategy.isEmpty() && CloudPlatform.getActive(environment) != null)) {
            log.warn(
                    "The container believes X-Forwarded-For before the limits see the request, of every private address or"
                            + " of anybody ({} is native, or implied by the cloud platform). Set it to none, and name your proxies"
                            + " in ratelimit.trusted-proxies",
                    STRATEGY);
        }
    }
}
