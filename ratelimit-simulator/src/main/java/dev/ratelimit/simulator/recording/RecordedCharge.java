package dev.ratelimit.simulator.recording;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a request asked one policy for, in the application.
 *
 * @param key a hash; {@code null} if the request lacked a part of it
 * @param permits that it cost
 * @param plan of the key's owner; {@code null} for none
 * @param override of the key; {@code null} for none
 */
public record RecordedCharge(
        @Nullable String key,
        long permits,
        @Nullable String plan,
        @Nullable String override) {

    /** What the names begin with by which rules ask requests for what was recorded. */
    public static final String RECORDED = "recorded.";

    private static final String PRESENCE = RECORDED + "presence:";
    private static final String KEY = RECORDED + "key:";
    private static final String PERMITS = RECORDED + "permits:";

    /** The attribute of requests that have met the policy. */
    public static String presence(String policy) {
        return PRESENCE + policy;
    }

    /** The attribute with the key of a request under the policy. */
    public static String key(String policy) {
        return KEY + policy;
    }

    /** The attribute with what a request cost under the policy. */
    public static String permits(String policy) {
        return PERMITS + policy;
    }

    /** The resolver of the plans of the policy. */
    public static String planResolver(String policy) {
        return RECORDED + "plan:" + policy;
    }

    /** The value of an attribute; {@code null} if there is none. */
    public static @Nullable Object attribute(Map<String, RecordedCharge> charges, String name) {
        RecordedCharge charge = name.startsWith(RECORDED) ? charges.get(name.substring(name.indexOf(':') + 1)) : null;
        if (charge == null) {
            return null;
        }
        return name.startsWith(KEY) ? charge.key : name.startsWith(PERMITS) ? (Object) charge.permits : true;
    }

    /** Adds what the resolvers of plans say. */
    public static void addPlans(Map<String, RecordedCharge> charges, Map<String, @Nullable String> beans) {
        charges.forEach((policy, charge) -> {
            String plan = charge.override == null ? charge.plan : Recording.Policy.planOf(charge.override);
            if (plan != null) {
                beans.put(planResolver(policy), plan);
            }
        });
    }
}
