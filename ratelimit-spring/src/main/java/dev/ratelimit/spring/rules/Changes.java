package dev.ratelimit.spring.rules;

import dev.ratelimit.spring.RateLimitPolicies.Change;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All changes of policies since the start. Immutable.
 *
 * @param version one more than that of the changes which these replace; 0 before the first
 * @param byPolicy what replaces the configuration, by policy
 */
public record Changes(long version, Map<String, Change> byPolicy) {

    /** No changes. */
    public static final Changes NONE = new Changes(0, Map.of());

    /** Copies the map. */
    public Changes {
        byPolicy = Map.copyOf(byPolicy);
    }

    /** The next changes, with another one of this policy; {@code null} for none. */
    Changes with(String policy, @Nullable Change change) {
        return new Changes(version + 1, with(byPolicy, policy, change));
    }

    /** The same map with another change of this policy; {@code null} for none. */
    static Map<String, Change> with(Map<String, Change> changes, String policy, @Nullable Change change) {
        Map<String, Change> next = new HashMap<>(changes);
        if (change == null) {
            next.remove(policy);
        } else {
            next.put(policy, change);
        }
        return next;
    }
}
