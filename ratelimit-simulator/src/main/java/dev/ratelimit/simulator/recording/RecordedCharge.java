package dev.ratelimit.simulator.recording;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * What a request asked one policy for, in the application.
 *
 * @param key a hash; {@code null} if the request lacked a part of it
 * @param permits that it cost
 * @param plan of the key's owner, or the override of the key as a plan; {@code null} for neither
 */
public record RecordedCharge(
        @Nullable String key, long permits, @Nullable String plan) {

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

    /** What the resolvers of plans say, besides other beans. */
    public static Map<String, @Nullable String> plans(
            Map<String, RecordedCharge> charges, Map<String, @Nullable String> others) {
        Map<String, @Nullable String> all = others;
        for (Map.Entry<String, RecordedCharge> charge : charges.entrySet()) {
            if (charge.getValue().plan != null) {
                all = all == others ? new HashMap<>(others) : all;
                all.put(planResolver(charge.getKey()), charge.getValue().plan);
            }
        }
        return all;
    }

    /**
     * Reads charges by policy.
     *
     * @param parser at the beginning of the object
     */
    public static Map<String, RecordedCharge> read(JsonParser parser) {
        Map<String, RecordedCharge> all = new HashMap<>();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String policy = parser.currentName();
            if (parser.nextToken() == JsonToken.START_OBJECT) {
                all.put(policy, charge(parser));
            } else {
                parser.skipChildren();
            }
        }
        return all;
    }

    private static RecordedCharge charge(JsonParser parser) {
        String key = null;
        long permits = 1;
        String plan = null;
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = parser.currentName();
            JsonToken value = parser.nextToken();
            switch (name) {
                case "key" -> key = parser.getString();
                case "permits" -> permits = value == JsonToken.VALUE_NUMBER_INT ? parser.getLongValue() : 1;
                case "plan" -> plan = parser.getString();
                case "override" -> plan = Recording.Policy.planOf(parser.getString());
                default -> parser.skipChildren();
            }
        }
        return new RecordedCharge(key, permits, plan);
    }
}
