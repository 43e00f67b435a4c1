package dev.ratelimit.spring.config;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.algorithm.LimitOptions;
import dev.ratelimit.spring.Allowance;
import dev.ratelimit.spring.PathPatterns;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RetryJitter;
import dev.ratelimit.spring.Rule;
import dev.ratelimit.spring.RuleKey;
import dev.ratelimit.spring.RuleMatch;
import dev.ratelimit.spring.Stage;
import dev.ratelimit.spring.StatusSet;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes a rule of one policy of the configuration; a mistake is blamed on its property. */
final class PolicyParser {

    private static final String DEFAULT_PLAN = "default";

    private final String name;
    private final PolicyProperties properties;
    private final RuleContext context;

    PolicyParser(String name, PolicyProperties properties, RuleContext context) {
        this.name = name;
        this.properties = properties;
        this.context = context;
    }

    /**
     * The rule.
     *
     * @throws RateLimitConfigurationException at the first mistake
     */
    Rule parse() {
        LimitParser limits = limitParser();
        Allowance.Limited own = own(limits);
        RuleKey key = checked(
                "key",
                String.join(", ", properties.key()),
                () -> context.keys().parse(properties.key(), properties.missingKey()));
        AllowanceParser allowances = context.allowances(key);
        Allowance otherwise = plans(limits, own, allowances);
        overrides(limits, allowances);
        context.exemptKeys().forEach(allowances::exempt);
        Policy policy = otherwise instanceof Allowance.Limited limited ? limited.policy() : anyPolicy(limits);
        RuleMatch match = match();
        RetryJitter jitter = jitter();
        checkMaxKeys();
        return new Rule(policy, match, key, allowances.parse(otherwise), price(), stage(key, match), counted(), jitter);
    }

    private LimitParser limitParser() {
        Algorithm algorithm =
                checked("algorithm", properties.algorithm(), () -> Algorithm.named(properties.algorithm()));
        LimitOptions options = new LimitOptions(
                properties.burst(), properties.refill(), properties.align(), properties.zone(), properties.rounding());
        String foreign = algorithm.foreignOption(options);
        if (foreign != null) {
            checked(foreign, null, () -> algorithm.limit(Rate.parse("1/second"), options));
        }
        return new LimitParser(algorithm, options, context.store());
    }

    /** The policy's own limits; {@code null} where there are only those of plans. */
    private Allowance.@Nullable Limited own(LimitParser limits) {
        List<String> texts = properties.limit();
        if (texts == null || texts.isEmpty()) {
            if (properties.plans().isEmpty()) {
                throw mistake("limit", null, "a policy needs a limit; write 10/second, 100/minute or 1000/hour");
            }
            if (properties.burst() != null) {
                throw mistake("burst", properties.burst(), "burst goes with limit; plans have a burst of their own");
            }
            return null;
        }
        String written = String.join("; ", texts);
        int count = checked("limit", written, () -> Rate.parseAll(written)).size();
        if (count > 1 && properties.burst() != null) {
            throw mistake(
                    "burst",
                    properties.burst(),
                    "burst is for a policy of one limit, and this one has " + count + "; make a policy of each");
        }
        List<Limit> own = checked("limit", written, () -> limits.parse(written));
        Policy policy = checked("", name, () -> new Policy(name, own));
        return checkPrice("permits", new Allowance.Limited(policy));
    }

    /** Reads the plans; what those may have that are on none. */
    private Allowance plans(LimitParser limits, Allowance.@Nullable Limited own, AllowanceParser allowances) {
        Map<String, PolicyProperties.Plan> plans = properties.plans();
        Allowance otherwise = own;
        for (Map.Entry<String, PolicyProperties.Plan> entry : plans.entrySet()) {
            String property = "plans." + entry.getKey();
            Allowance allowance = plan(property, entry.getValue(), limits);
            if (!entry.getKey().equals(DEFAULT_PLAN)) {
                allowances.plan(entry.getKey(), allowance);
            } else if (own != null) {
                throw mistake(property, null, "those on no plan have 'limit' already; write one of the two");
            } else {
                otherwise = allowance;
            }
        }
        if (otherwise == null) {
            throw mistake("plans", null, "those on no plan need a limit, too; write plans.default or limit");
        }
        String resolver = properties.planResolver();
        if (plans.isEmpty() && resolver != null) {
            throw mistake("plan-resolver", resolver, "there are no plans to choose from; write plans.pro: 100/minute");
        }
        if (!plans.isEmpty()) {
            allowances.resolvePlansBy(checked(
                    "plan-resolver",
                    resolver,
                    () -> resolver == null
                            ? context.resolvers().onlyPlan()
                            : context.resolvers().plan(resolver)));
        }
        return otherwise;
    }

    private Allowance plan(String property, PolicyProperties.Plan plan, LimitParser limits) {
        String written = plan.limit();
        if (written == null) {
            throw mistake(property + ".limit", null, "a plan needs a limit; write 100/minute, unlimited or blocked");
        }
        return checkPrice(property, checked(property, written, () -> limits.allowance(name, written, plan.burst())));
    }

    private void overrides(LimitParser limits, AllowanceParser allowances) {
        properties.overrides().forEach((value, written) -> {
            String property = "overrides[" + value + "]";
            Allowance allowance = checked(property, written, () -> limits.allowance(name, written, null));
            checkPrice(property, allowance);
            checked(property, written, () -> {
                allowances.override(value, allowance);
                return value;
            });
        });
    }

    /** A policy to be known by, where those on no plan have no limits. */
    private Policy anyPolicy(LimitParser limits) {
        return properties.plans().values().stream()
                .map(plan -> plan("plans", plan, limits))
                .filter(Allowance.Limited.class::isInstance)
                .map(allowance -> ((Allowance.Limited) allowance).policy())
                .findFirst()
                .orElseThrow(() -> mistake("plans", null, "at least one plan needs a limit"));
    }

    private RuleMatch match() {
        PolicyProperties.Match match = properties.match();
        for (String method : match.methods()) {
            if (!RuleMatch.METHODS.contains(RuleMatch.methodOf(method.strip()))) {
                throw mistake(
                        "match.methods",
                        method,
                        "'" + method + "' is no method; write GET, POST, PUT, PATCH, DELETE, OPTIONS or TRACE");
            }
        }
        String when = match.when();
        return new RuleMatch(
                checked("match.paths", String.join(", ", match.paths()), () -> new PathPatterns(match.paths(), false)),
                checked(
                        "match.except-paths",
                        String.join(", ", match.exceptPaths()),
                        () -> new PathPatterns(match.exceptPaths(), true)),
                match.methods().stream()
                        .map(method -> RuleMatch.methodOf(method.strip()))
                        .collect(Collectors.toSet()),
                when == null ? null : checked("match.when", when, () -> CallExpression.condition(when, true)),
                match.annotated());
    }

    private Rule.Price price() {
        String written = properties.permits().strip();
        return written.startsWith("#")
                ? checked("permits", written, () -> CallExpression.price(written))
                : Rule.Price.of(fixedPermits());
    }

    private boolean isFixedPrice() {
        return !properties.permits().strip().startsWith("#");
    }

    private long fixedPermits() {
        String written = properties.permits().strip();
        try {
            return Long.parseLong(written);
        } catch (NumberFormatException e) {
            throw mistake("permits", written, "permits must be a whole number, or an expression that starts with #");
        }
    }

    private <T extends Allowance> T checkPrice(String property, T allowance) {
        if (isFixedPrice() && allowance instanceof Allowance.Limited limited) {
            long permits = fixedPermits();
            checked(property, property.equals("permits") ? properties.permits() : null, () -> {
                LimitParser.checkPermits(permits, limited.policy());
                return permits;
            });
        }
        return allowance;
    }

    private Stage stage(RuleKey key, RuleMatch match) {
        boolean late = key.needsSecurity()
                || match.when() != null
                || !isFixedPrice()
                || !properties.plans().isEmpty();
        if (properties.stage() == Stage.BEFORE_SECURITY && key.needsPrincipal()) {
            throw mistake(
                    "stage",
                    "before-security",
                    "the key '" + String.join(", ", properties.key())
                            + "' is not known before Spring Security has run");
        }
        RuleMatch.Condition when = match.when();
        if (properties.stage() == Stage.BEFORE_SECURITY && when != null && when.needsPrincipal()) {
            throw mistake(
                    "stage",
                    "before-security",
                    "the condition '" + when.written()
                            + "' is about a principal, who is not known before Spring Security");
        }
        return properties.stage() != Stage.AUTO
                ? properties.stage()
                : late ? Stage.AFTER_SECURITY : Stage.BEFORE_SECURITY;
    }

    private @Nullable StatusSet counted() {
        List<String> count = properties.count();
        return count.isEmpty() ? null : checked("count", String.join(", ", count), () -> new StatusSet(count));
    }

    private RetryJitter jitter() {
        PolicyProperties.Jitter jitter = properties.retryJitter();
        return checked(
                "retry-jitter",
                jitter.min() + " to " + jitter.max(),
                () -> new RetryJitter(jitter.min(), jitter.max()));
    }

    private void checkMaxKeys() {
        if (properties.maxKeys() < 1) {
            throw mistake(
                    "max-keys", properties.maxKeys(), "max-keys must be at least 1 but was " + properties.maxKeys());
        }
    }

    private <T> T checked(String property, @Nullable String written, Supplier<T> parse) {
        try {
            return parse.get();
        } catch (IllegalArgumentException e) {
            throw mistake(property, written, String.valueOf(e.getMessage()));
        }
    }

    private RateLimitConfigurationException mistake(String property, @Nullable Object written, String reason) {
        String where = "ratelimit.policies." + name + (property.isEmpty() ? "" : "." + property);
        return new RateLimitConfigurationException(where, written == null ? null : written.toString(), reason);
    }
}
