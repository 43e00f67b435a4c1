package dev.ratelimit.spring.rules.config;

import dev.ratelimit.Policy;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.LimitOptions;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.request.Cost;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/** Creates the rule of a policy's concurrency limit beside its rate; a mistake is reported with its property. */
final class ConcurrencyParser {

    private static final Duration MIN_HOLD = Duration.ofSeconds(1);
    private static final Duration MAX_HOLD = Duration.ofDays(365);

    private final String name;
    private final PolicyProperties properties;
    private final RuleContext context;
    private final Section section;
    private final Duration maxHold;

    /**
     * Checks how the properties fit together.
     *
     * @throws RateLimitConfigurationException if they do not
     */
    ConcurrencyParser(String name, PolicyProperties properties, RuleContext context) {
        this.name = name;
        this.properties = properties;
        this.context = context;
        this.section = Section.ofPolicy(name);
        boolean algorithm = properties.algorithm().equals(Algorithm.CONCURRENCY.toString());
        if (properties.concurrency() != null && algorithm) {
            throw section.mistake(
                    "concurrency",
                    properties.concurrency(),
                    "algorithm: concurrency makes limit the number of requests at once; write only one of the two");
        }
        if (properties.maxHold() != null && properties.concurrency() == null && !algorithm) {
            throw section.mistake(
                    "max-hold", properties.maxHold(), "only concurrency limits hold permits; write concurrency: 20");
        }
        this.maxHold = properties.maxHold() == null ? Concurrency.DEFAULT_MAX_HOLD : properties.maxHold();
        if (maxHold.compareTo(MIN_HOLD) < 0 || maxHold.compareTo(MAX_HOLD) > 0) {
            throw section.mistake(
                    "max-hold", maxHold, "max-hold must be from 1s to 365d, and longer than any request; write 10m");
        }
        if (isAlone() || algorithm) {
            rejectStatuses("count", properties.count());
            rejectStatuses("free", properties.free());
        }
    }

    private void rejectStatuses(String property, List<String> statuses) {
        if (!statuses.isEmpty()) {
            throw section.mistake(
                    property,
                    String.join(", ", statuses),
                    "a request holds its permit until it is complete, whatever its status; remove it, or add a limit"
                            + " such as 100/hour to which it applies");
        }
    }

    /** How long a permit can be held. */
    Duration maxHold() {
        return maxHold;
    }

    /** Whether the concurrency is all that the policy limits: there is no rate, and plans are numbers. */
    boolean isAlone() {
        return isAlone(properties);
    }

    /** Whether the concurrency is all that a policy limits. */
    static boolean isAlone(PolicyProperties properties) {
        return properties.concurrency() != null
                && (properties.limit() == null || properties.limit().isEmpty())
                && properties.plans().values().stream().allMatch(ConcurrencyParser::isWithoutRate);
    }

    /** The algorithm of the policy's own limit, which is written as this or left out. */
    Algorithm algorithm(Algorithm written) {
        if (isAlone() && written != Algorithm.TOKEN_BUCKET) {
            throw section.mistake(
                    "algorithm",
                    written,
                    "the algorithm is that of limit, which is missing; write limit: 100/minute as well, or remove the"
                            + " algorithm");
        }
        return isAlone() ? Algorithm.CONCURRENCY : written;
    }

    private static boolean isWithoutRate(PolicyProperties.Plan plan) {
        return plan.limit() != null && plan.limit().strip().matches("[\\d,]+|[a-z]+");
    }

    /**
     * This rule, and that of the concurrency if it is limited as well: a limit of its own, because its permits come back
     * alone.
     */
    List<Rule> withRule(Rule rule) {
        if (properties.concurrency() == null || isAlone()) {
            return List.of(rule);
        }
        LimitParser parser = new LimitParser(Algorithm.CONCURRENCY, LimitOptions.NONE, maxHold, context.store());
        Policy policy = parse(Rule.concurrencyOf(name), parser);
        LimitOverrideParser exceptions = context.overrides(rule.key());
        properties.overrides().forEach((value, text) -> {
            if (parser.isFixed(text)) {
                exceptions.override(value, parser.override(policy.name(), text));
            }
        });
        context.exemptKeys().forEach(exceptions::exempt);
        return List.of(
                rule,
                new Rule(
                        policy,
                        rule.match(),
                        rule.key(),
                        exceptions
                                .parse(new LimitOverride.Limited(policy))
                                .readBy(text -> override(parser, policy, text)),
                        Cost.of(1),
                        rule.stage(),
                        null,
                        rule.jitter(),
                        rule.format(),
                        rule.onExceeded(),
                        context.modeOf(policy.name(), context.modeOf(name, properties.mode())) == Mode.SHADOW));
    }

    private static LimitOverride override(LimitParser parser, Policy policy, String written) {
        return Section.ofPolicy(policy.name())
                .checked("overrides", written, () -> parser.override(policy.name(), written));
    }

    private Policy parse(String half, LimitParser parser) {
        RateLimitChange change = context.changeOfLimit(
                half,
                "a limit of requests at once beside a rate has only a limit and a mode of its own; change the policy "
                        + Quotation.of(name));
        Long burst = change.burst();
        if (burst != null && burst != 0) {
            throw Section.ofPolicy(half).mistake("burst", burst, "a limit of requests at once has no burst; remove it");
        }
        String written = Objects.requireNonNullElse(change.limit(), String.valueOf(properties.concurrency()));
        return section.checked("concurrency", written, () -> new Policy(half, parser.parse(written)));
    }
}
