package dev.ratelimit.spring.rules.history;

import dev.ratelimit.Limit;
import dev.ratelimit.Penalty;
import dev.ratelimit.Rate;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.util.List;
import java.util.stream.Collectors;

/** What the configuration says of a property that operators can change, so that two configurations can be compared. */
public final class ConfiguredValue {

    private ConfiguredValue() {}

    /**
     * The value of a property, as in the configuration, such as {@code 100/minute}.
     *
     * @param configured the rules without changes
     * @return empty if there is no such policy, or the property is not known
     */
    public static String of(RulesInForce configured, String policy, String property) {
        Rule rule = configured.byPolicy().get(policy);
        if (rule == null) {
            return "";
        }
        List<Limit> limits = rule.policy().limits();
        return switch (property) {
            case "limit" -> limit(rule);
            case "burst" -> rule.fixed() == null ? of(limits, true) : limit(rule);
            case "mode" -> PropertyName.of(configured.mode(policy));
            case "penalty" -> {
                Penalty penalty = rule.policy().penalty();
                yield penalty == null ? "none" : Rate.notation(penalty.duration());
            }
            case "paths" -> String.join(", ", rule.match().paths().texts());
            case "max-wait" -> Rate.notation(rule.onExceeded().maxWait());
            default -> ofPlan(rule, property);
        };
    }

    /** The limit or the burst of a plan, whose name follows a dot. */
    private static String ofPlan(Rule rule, String property) {
        String[] parts = property.split("\\.", 2);
        LimitOverride plan = parts.length < 2 ? null : rule.overrides().plans().get(parts[1]);
        if (plan == null) {
            return "";
        }
        if (plan instanceof LimitOverride.Limited limited) {
            return of(limited.policy().limits(), parts[0].equals("plan-burst"));
        }
        return PropertyName.of((LimitOverride.Fixed) plan);
    }

    private static String of(List<Limit> limits, boolean burst) {
        return burst
                ? limits.stream().map(limit -> Long.toString(limit.capacity())).collect(Collectors.joining("; "))
                : rates(limits);
    }

    /** The limit of callers without a plan, as in the configuration. */
    public static String limit(Rule rule) {
        LimitOverride.Fixed fixed = rule.fixed();
        return fixed == null ? rates(rule.policy().limits()) : PropertyName.of(fixed);
    }

    /** Limits as in the configuration: {@code 10/second; 100/hour}, or a number of requests at once. */
    public static String rates(List<Limit> limits) {
        return limits.stream()
                .map(limit -> limit.concurrency()
                        ? Long.toString(limit.capacity())
                        : limit.rate().toString())
                .collect(Collectors.joining("; "));
    }
}
