package dev.ratelimit.spring.config;

import dev.ratelimit.spring.AddressRange;
import dev.ratelimit.spring.ClientAddress;
import dev.ratelimit.spring.Exemptions;
import dev.ratelimit.spring.KeyEncoder;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.PathPatterns;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.Rule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.beans.factory.ListableBeanFactory;

/** What the configuration says, as rules. Immutable. */
public final class PolicyRules {

    private final RateLimitProperties properties;
    private final RuleContext context;
    private final List<Rule> rules;
    private final ClientAddress clientAddress;
    private final Exemptions exemptions;

    /**
     * Reads the configuration.
     *
     * @param beans the beans that keys and plans may name
     * @param store whether the store can keep a limit
     * @throws RateLimitConfigurationException at the first mistake
     */
    public PolicyRules(RateLimitProperties properties, ListableBeanFactory beans, LimitCheck store) {
        this.properties = properties;
        Resolvers resolvers = new Resolvers(beans);
        this.context = new RuleContext(
                new KeyParser(resolvers), resolvers, properties.exempt().keys(), properties.ignoreCase(), store);
        this.rules = parseRules();
        this.clientAddress = new ClientAddress(
                ranges("ratelimit.trusted-proxies", properties.trustedProxies()), properties.forwardedHeader());
        this.exemptions = parseExemptions();
    }

    private List<Rule> parseRules() {
        checkNames(properties.policies().keySet());
        List<Rule> parsed = new ArrayList<>();
        properties.policies().forEach((name, policy) -> {
            Rule rule = new PolicyParser(name, policy, context).parse();
            if (policy.mode() != Mode.OFF) {
                parsed.add(rule);
            }
        });
        parsed.sort(Comparator.comparingInt((Rule rule) -> rule.key().parts().size())
                .reversed());
        return List.copyOf(parsed);
    }

    /** Two spellings of a name are two policies, each of which gets some of the properties of both. */
    private static void checkNames(Set<String> names) {
        Map<String, String> spellings = new HashMap<>();
        for (String name : names) {
            String other = spellings.put(name.replaceAll("[^A-Za-z0-9]", "").toLowerCase(Locale.ROOT), name);
            if (other != null) {
                throw new RateLimitConfigurationException(
                        "ratelimit.policies." + name,
                        null,
                        "'" + name + "' and '" + other + "' are one name to Spring Boot; rename one of them");
            }
        }
    }

    private Exemptions parseExemptions() {
        RateLimitProperties.Exempt exempt = properties.exempt();
        String when = exempt.when();
        return new Exemptions(
                ranges("ratelimit.exempt.addresses", exempt.addresses()),
                checked(
                        "ratelimit.exempt.paths",
                        String.join(", ", exempt.paths()),
                        paths -> new PathPatterns(exempt.paths(), true)),
                when == null
                        ? null
                        : checked("ratelimit.exempt.when", when, text -> CallExpression.condition(text, false)));
    }

    private static List<AddressRange> ranges(String property, List<String> texts) {
        return texts.stream()
                .map(text -> checked(property, text, AddressRange::parse))
                .toList();
    }

    private static <T> T checked(String property, String written, Function<String, T> parse) {
        try {
            return parse.apply(written);
        } catch (IllegalArgumentException e) {
            throw new RateLimitConfigurationException(property, written, String.valueOf(e.getMessage()));
        }
    }

    /** The rules of all policies that are not off, the most specific first. */
    public List<Rule> rules() {
        return rules;
    }

    /** The rules of annotations, which may name the policies. */
    public AnnotatedRules annotated() {
        return new AnnotatedRules(context, rules, properties.policies().keySet());
    }

    /** Which requests no policy applies to. */
    public Exemptions exemptions() {
        return exemptions;
    }

    /** Finds the clients' addresses. */
    public ClientAddress clientAddress() {
        return clientAddress;
    }

    /** Writes the keys of a request. */
    public Supplier<KeyEncoder> keys() {
        return () -> new KeyEncoder(properties.ignoreCase(), properties.ipv4Prefix(), properties.ipv6Prefix());
    }
}
