package dev.ratelimit.spring.rules.config;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LimitOptions;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.expression.RequestExpression;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.refusal.RetryJitter;
import dev.ratelimit.spring.rules.request.Condition;
import dev.ratelimit.spring.rules.request.Cost;
import dev.ratelimit.spring.rules.request.Parameters;
import dev.ratelimit.spring.rules.rule.FreeStatuses;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.LimitOverrides;
import dev.ratelimit.spring.rules.rule.OnExceeded;
import dev.ratelimit.spring.rules.rule.RequestMatcher;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.rule.Stage;
import dev.ratelimit.spring.rules.rule.StatusSet;
import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Creates the rule of one configured policy; a mistake is reported with its property. */
final class PolicyParser {

    private static final Duration MIN_PENALTY = Duration.ofSeconds(1);

    private final String name;
    private final PolicyProperties properties;
    private final RuleContext context;
    private final Section section;
    private final ConcurrencyParser concurrency;

    private final WrittenLimit written;
    private final @Nullable Long burst;

    PolicyParser(String name, PolicyProperties configured, RuleContext context) {
        RateLimitChange change = context.changeOf(name);
        this.name = name;
        this.properties = configured.with(change);
        this.context = context;
        this.section = Section.ofPolicy(name);
        // a plan that is changed to a rate must not make it one
        this.concurrency = new ConcurrencyParser(name, configured, context);
        this.written = WrittenLimit.of(properties, change);
        this.burst = written.burst();
    }

    /**
     * Creates the rule, and a second one if the policy limits both the rate and the concurrency.
     *
     * @throws RateLimitConfigurationException at the first mistake
     */
    List<Rule> parse() {
        section.checked("", name, () -> {
            Rule.checkName(name);
            return name;
        });
        checkPlans(context.changeOf(name));
        LimitParser limits = limitParser();
        LimitOverride.Limited own = own(limits);
        BudgetKey key = section.checked(
                "key",
                String.join(", ", properties.key()),
                () -> context.keys().parse(properties.key(), properties.missingKey(), parameters()));
        LimitOverrideParser overrides = context.overrides(key);
        LimitOverride otherwise = plans(limits, own, overrides);
        overrides(limits, overrides);
        context.exemptKeys().forEach(overrides::exempt);
        Policy policy = otherwise instanceof LimitOverride.Limited limited ? limited.policy() : anyPolicy(limits);
        RequestMatcher match = new MatchParser(section.below("match"), properties.match())
                .parse(context.changeOf(name).paths());
        RetryJitter jitter = jitter();
        Cost cost = cost();
        OnExceeded onExceeded = new OnExceededParser(
                        section.below("on-exceeded"), properties.onExceeded(), properties.penalty() != null)
                .parse();
        Rule rule = new Rule(
                policy,
                match,
                key,
                overrides.parse(otherwise).readBy(text -> override(limits, "overrides", text)),
                cost,
                stage(key, match, cost),
                free(),
                jitter,
                ResponseParser.parse(section.below("response").path(), properties.response(), context.format()),
                onExceeded,
                context.modeOf(name, properties.mode()) == Mode.SHADOW);
        return concurrency.withRule(rule);
    }

    /** A change may concern only plans that the resolver can name. */
    private void checkPlans(RateLimitChange change) {
        for (String plan : change.plans().keySet()) {
            if (!properties.plans().containsKey(plan)) {
                throw section.mistake(
                        Quotation.message("plans." + plan),
                        null,
                        plan.equals(LimitOverrides.NO_PLAN)
                                ? "callers without a plan have the limit of the policy; change that, without a plan"
                                : properties.plans().isEmpty()
                                        ? "the policy has no plans; plans need the configuration"
                                        : "there is no such plan; the plans are "
                                                + String.join(
                                                        ", ",
                                                        new TreeSet<>(properties
                                                                .plans()
                                                                .keySet()))
                                                + ", and others need the configuration");
            }
        }
    }

    /** Only annotations have methods; each checks that its method has the parameters. */
    private Parameters parameters() {
        return properties.match().annotated() ? Parameters.ANY : Parameters.NOT_ANNOTATED;
    }

    private LimitParser limitParser() {
        String written = context.algorithmOf(name, properties.algorithm());
        Algorithm named = section.checked("algorithm", written, () -> LimitParser.algorithm(written));
        Algorithm algorithm = concurrency.algorithm(named);
        LimitOptions options = LimitOptions.NONE
                .with("burst", burst)
                .with("refill", properties.refill())
                .with("align", properties.align())
                .with("zone", properties.zone())
                .with("rounding", properties.rounding());
        String foreign = algorithm.foreignOption(options);
        if (foreign != null) {
            section.checked(foreign, null, () -> algorithm.limit(Rate.parse("1/second"), options));
        }
        checkBurst("burst", burst);
        if (properties.zone() != null) {
            checkZone("zone", properties.zone());
        }
        checkPenalty(properties.penalty());
        return new LimitParser(algorithm, options, concurrency.maxHold(), context.store());
    }

    private void checkPenalty(@Nullable Duration penalty) {
        if (penalty != null) {
            if (!penalty.isNegative() && !penalty.isZero() && penalty.compareTo(MIN_PENALTY) < 0) {
                throw section.mistake("penalty", penalty, "penalty must be at least 1s; write 10m, for example");
            }
            try {
                Policy any = Policy.of(name, TokenBucket.of(Rate.parse("1/second")));
                context.store().accept(any.withPenalty(penalty).limits().get(0));
            } catch (IllegalArgumentException e) {
                throw section.mistake("penalty", penalty, e.getMessage() + "; write 10m, for example");
            }
        }
    }

    private Policy penalized(Policy policy) {
        return properties.penalty() == null ? policy : policy.withPenalty(properties.penalty());
    }

    private LimitOverride penalized(LimitOverride override) {
        return override instanceof LimitOverride.Limited limited
                ? new LimitOverride.Limited(penalized(limited.policy()))
                : override;
    }

    private void checkBurst(String property, @Nullable Long burst) {
        if (burst != null && burst < 1) {
            throw section.mistake(
                    property,
                    burst,
                    "burst must be at least 1 but was " + burst + "; write how many permits the bucket holds");
        }
    }

    /** The policy's own limits; {@code null} if only plans have limits. */
    private LimitOverride.@Nullable Limited own(LimitParser limits) {
        List<String> texts = written.texts();
        if (texts == null || texts.isEmpty()) {
            if (concurrency.isAlone()) {
                return own(limits, "concurrency", String.valueOf(properties.concurrency()));
            }
            if (properties.plans().isEmpty()) {
                throw section.mistake(
                        "limit", null, "a policy needs a limit; write 10/second, 100/minute or 1000/hour");
            }
            if (burst != null) {
                throw section.mistake(
                        "burst", burst, "burst belongs to limit, which is missing; write plans.<name>.burst instead");
            }
            return null;
        }
        // Spring Boot has split the number at its commas
        String written = String.join("; ", texts).replaceAll("(?<=\\d); (?=\\d{3}\\b)", ",");
        int count =
                section.checked("limit", written, () -> limits.rates(written)).size();
        if (count > 1 && burst != null) {
            throw section.mistake(
                    "burst",
                    burst,
                    "burst needs a policy with a single limit, but this one has " + count
                            + (context.changeOf(name).limit() == null
                                    ? "; write a separate policy for each limit"
                                    : "; change the burst to 0 as well"));
        }
        return own(limits, "limit", written);
    }

    private LimitOverride.Limited own(LimitParser limits, String property, String written) {
        List<Limit> own = section.checked(property, written, () -> limits.parse(written));
        Policy policy = section.checked("", name, () -> penalized(new Policy(name, own)));
        return checkCost("permits", new LimitOverride.Limited(policy));
    }

    /** Parses the plans and returns the limits of callers without a plan. */
    private LimitOverride plans(
            LimitParser limits, LimitOverride.@Nullable Limited own, LimitOverrideParser overrides) {
        Map<String, PolicyProperties.Plan> plans = properties.plans();
        LimitOverride otherwise = own;
        for (Map.Entry<String, PolicyProperties.Plan> entry : plans.entrySet()) {
            if (written.insteadOfPlan() && entry.getKey().equals(LimitOverrides.NO_PLAN)) {
                continue;
            }
            String property = "plans." + entry.getKey();
            LimitOverride override = plan(entry.getKey(), entry.getValue(), limits);
            if (!entry.getKey().equals(LimitOverrides.NO_PLAN)) {
                overrides.plan(entry.getKey(), override);
            } else if (own != null) {
                throw section.mistake(
                        property, null, "callers on no plan already have 'limit'; write only one of the two");
            } else {
                otherwise = override;
            }
        }
        if (otherwise == null) {
            throw section.mistake("plans", null, "callers without a plan need a limit; write plans.default or limit");
        }
        String resolver = properties.planResolver();
        if (plans.isEmpty() && resolver != null) {
            throw section.mistake(
                    "plan-resolver", resolver, "there are no plans to choose from; write plans.pro: 100/minute");
        }
        if (!plans.isEmpty()) {
            overrides.resolvePlansBy(section.checked(
                    "plan-resolver",
                    resolver,
                    () -> resolver == null
                            ? context.resolvers().onlyPlan()
                            : context.resolvers().plan(resolver)));
        }
        return otherwise;
    }

    private LimitOverride plan(String called, PolicyProperties.Plan plan, LimitParser limits) {
        String property = "plans." + called;
        String written = plan.limit();
        if (written == null) {
            throw section.mistake(
                    property + ".limit", null, "a plan needs a limit; write 100/minute, unlimited or blocked");
        }
        checkBurst(property + ".burst", plan.burst());
        if (plan.zone() != null) {
            checkZone(property + ".zone", plan.zone());
        }
        if (limits.isFixed(written) && (plan.burst() != null || plan.zone() != null)) {
            throw section.mistake(
                    property + (plan.burst() != null ? ".burst" : ".zone"),
                    null,
                    "it has no effect on a plan that is " + written.strip() + "; "
                            + (plan.burst() != null
                                            && context.changeOf(name).plans().containsKey(called)
                                    ? "change the burst to 0 as well, for none"
                                    : "remove it"));
        }
        LimitParser own = limits.with("burst", plan.burst());
        LimitParser ofPlan = plan.zone() == null ? own : own.with("zone", plan.zone());
        return checkCost(property, section.checked(property, written, () -> penalized(ofPlan.override(name, written))));
    }

    private void checkZone(String property, ZoneId zone) {
        if (properties.align() != FixedWindow.Align.CLOCK) {
            throw section.mistake(property, zone, "a zone needs windows aligned with the clock; write align: clock");
        }
    }

    private void overrides(LimitParser limits, LimitOverrideParser overrides) {
        properties.overrides().forEach((value, written) -> {
            String property = "overrides[" + value + "]";
            LimitOverride override = override(limits, property, written);
            section.checked(property, written, () -> {
                overrides.override(value, override);
                return value;
            });
        });
    }

    private LimitOverride override(LimitParser limits, String property, String written) {
        LimitParser own = limits.with("burst", null);
        return checkCost(property, section.checked(property, written, () -> penalized(own.override(name, written))));
    }

    /** A policy that gives the rule its name if callers without a plan have no limits. */
    private Policy anyPolicy(LimitParser limits) {
        return properties.plans().values().stream()
                .map(plan -> plan("plans", plan, limits))
                .filter(LimitOverride.Limited.class::isInstance)
                .map(override -> ((LimitOverride.Limited) override).policy())
                .findFirst()
                .orElseThrow(() -> section.mistake("plans", null, "at least one plan needs a limit"));
    }

    private Cost cost() {
        String written = properties.permits().strip();
        return written.startsWith("#")
                ? section.checked("permits", written, () -> RequestExpression.cost(written, Parameters.NONE))
                : Cost.of(fixedPermits());
    }

    private boolean isFixedCost() {
        return !properties.permits().strip().startsWith("#");
    }

    private long fixedPermits() {
        String written = properties.permits().strip();
        try {
            return Long.parseLong(written);
        } catch (NumberFormatException e) {
            throw section.mistake(
                    "permits",
                    written,
                    "permits must be a whole number or an expression; write 1, 5, or an expression that starts with #");
        }
    }

    private <T extends LimitOverride> T checkCost(String property, T override) {
        if (isFixedCost() && override instanceof LimitOverride.Limited limited) {
            long permits = fixedPermits();
            section.checked(property, property.equals("permits") ? properties.permits() : null, () -> {
                LimitParser.checkPermits(permits, limited.policy());
                return permits;
            });
        }
        return override;
    }

    private Stage stage(BudgetKey key, RequestMatcher match, Cost cost) {
        boolean late = key.needsSecurity()
                || match.when() != null
                || !isFixedCost()
                || !properties.plans().isEmpty();
        if (properties.stage() == Stage.BEFORE_SECURITY && key.needsPrincipal()) {
            throw section.mistake(
                    "stage",
                    "before-security",
                    "the key " + Quotation.of(String.join(", ", properties.key()))
                            + " is not known before Spring Security has run; write after-security or auto");
        }
        if (properties.stage() == Stage.BEFORE_SECURITY && !key.arguments().isEmpty()) {
            throw section.mistake(
                    "stage",
                    "before-security",
                    "the key " + Quotation.of(String.join(", ", properties.key()))
                            + " is not known before the method is called; leave the stage out");
        }
        Condition when = match.when();
        if (properties.stage() == Stage.BEFORE_SECURITY && when != null && when.needsPrincipal()) {
            throw dependsOnPrincipal("the condition " + Quotation.of(when.written()));
        }
        if (properties.stage() == Stage.BEFORE_SECURITY && cost.needsPrincipal()) {
            throw dependsOnPrincipal("the cost " + Quotation.of(cost.written()));
        }
        return properties.stage() != Stage.AUTO
                ? properties.stage()
                : late ? Stage.AFTER_SECURITY : Stage.BEFORE_SECURITY;
    }

    private RateLimitConfigurationException dependsOnPrincipal(String what) {
        return section.mistake(
                "stage",
                "before-security",
                what + " depends on the principal, who is not known before Spring Security has run;"
                        + " write after-security or auto");
    }

    private @Nullable FreeStatuses free() {
        List<String> count = properties.count();
        List<String> free = properties.free();
        if (!count.isEmpty() && !free.isEmpty()) {
            throw section.mistake(
                    "free",
                    String.join(", ", free),
                    "write count (what is charged) or free (what is not charged), not both");
        }
        if (!count.isEmpty()) {
            return section.checked("count", String.join(", ", count), () -> FreeStatuses.allBut(new StatusSet(count)));
        }
        return free.isEmpty()
                ? null
                : section.checked("free", String.join(", ", free), () -> FreeStatuses.of(new StatusSet(free)));
    }

    private RetryJitter jitter() {
        PolicyProperties.Jitter jitter = properties.retryJitter();
        return section.checked(
                "retry-jitter",
                jitter.min() + " to " + jitter.max(),
                () -> new RetryJitter(jitter.min(), jitter.max()));
    }
}
