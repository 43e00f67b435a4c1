package dev.ratelimit.spring.rules.history;

import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of changes that were made when the configuration had another value than now: what was deployed since then does
 * not apply. Each one is told once. Used by one thread at a time.
 */
public final class StaleChanges {

    private static final Logger log = LoggerFactory.getLogger(StaleChanges.class);

    private Set<Stale> told = Set.of();

    private record Stale(ChangedProperty property, String configured) {

        boolean isStale() {
            return StaleChanges.isStale(property, configured);
        }
    }

    /**
     * Whether the configuration has another value than when a change was made.
     *
     * @param configured the value of the configuration now, as {@link ConfiguredValue} writes it
     */
    public static boolean isStale(ChangedProperty property, String configured) {
        String then = property.value().configured();
        return !then.isEmpty() && !then.equals(configured);
    }

    /**
     * Warns of those that were not told before.
     *
     * @param inForce the changes in force
     * @param configured the rules without changes
     */
    public void warn(List<ChangedProperty> inForce, RulesInForce configured) {
        Set<Stale> stale = new HashSet<>();
        for (ChangedProperty property : inForce) {
            Stale one = new Stale(property, ConfiguredValue.of(configured, property.policy(), property.name()));
            if (one.isStale()) {
                stale.add(one);
                if (!told.contains(one)) {
                    tell(one);
                }
            }
        }
        told = stale;
    }

    private static void tell(Stale stale) {
        ChangedProperty property = stale.property();
        Instant end = property.value().end();
        String reason = property.value().reason();
        log.warn(
                "Rate limit {} does not have the {} that is configured now: {}. In force is {}, which {} has set at {}{} when"
                        + " {} was configured, and which lasts {}. To apply the configuration, remove this change: POST"
                        + " {\"restore\": true} to /actuator/ratelimits/{}, or RateLimitPolicies.restore",
                Quotation.of(property.policy()),
                property.name(),
                stale.configured(),
                property.shown(),
                Quotation.of(property.value().by()),
                property.since(),
                reason == null ? "" : ", because of " + Quotation.of(reason) + ",",
                property.value().configured(),
                end == null ? "until it is removed" : "until " + end,
                property.policy());
    }
}
