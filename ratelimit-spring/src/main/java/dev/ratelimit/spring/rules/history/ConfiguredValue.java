package dev.ratelimit.spring.rules.history;

import dev.ratelimit.Limit;
import dev.ratelimit.spring.rules.decision.RulesInForce;
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
            case "limit" -> limits.stream().map(ConfiguredValue::rate).collect(Collectors.joining("; "));
            case "burst" ->
                limits.stream().map(limit -> Long.toString(limit.capacity())).collect(Collectors.joining("; "));
            case "mode" -> PropertyName.of(configured.mode(policy));
            default -> "";
        };
    }

    private static String rate(Limit limit) {
        return limit.concurrency()
                ? Long.toString(limit.capacity())
                : limit.rate().toString();
    }
}
