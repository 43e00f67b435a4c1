package dev.ratelimit.simulator.suggest;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A limit for one policy.
 *
 * @param policy its name
 * @param limit such as {@code 60/minute}
 * @param burst of a token bucket; {@code null} for the permits of one period
 * @param algorithm its name
 * @param key of a policy that is new; {@code null} if the policy is known already, or all share one budget
 * @param isNew whether the configuration does not have the policy
 * @param reason why this limit
 */
public record Suggestion(
        String policy,
        String limit,
        @Nullable Long burst,
        String algorithm,
        @Nullable String key,
        boolean isNew,
        String reason) {

    /** The properties that lead to it. */
    public Map<String, String> properties() {
        Map<String, String> all = new LinkedHashMap<>();
        String prefix = "ratelimit.policies." + policy + ".";
        all.put(prefix + "limit", limit);
        if (burst != null) {
            all.put(prefix + "burst", burst.toString());
        }
        if (!algorithm.equals("token-bucket")) {
            all.put(prefix + "algorithm", algorithm);
        }
        if (key != null) {
            all.put(prefix + "key", key);
        }
        return all;
    }
}
