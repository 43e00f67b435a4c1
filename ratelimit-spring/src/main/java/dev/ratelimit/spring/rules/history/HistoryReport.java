package dev.ratelimit.spring.rules.history;

import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Describes what operators have done, and what of it is in force, in terms of maps and texts, for JSON. */
public final class HistoryReport {

    private HistoryReport() {}

    /**
     * An entry.
     *
     * @param shown the key as it is to be shown
     */
    public static Map<String, Object> of(HistoryEntry entry, UnaryOperator<String> shown) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("time", entry.time().toString());
        map.put("action", PropertyName.of(entry.action()));
        map.put("policy", entry.policy());
        String key = entry.key();
        put(map, "key", key == null ? null : shown.apply(key));
        put(map, "from", entry.from());
        put(map, "to", entry.to());
        put(map, "until", entry.until());
        put(map, "reason", entry.reason());
        put(map, "by", entry.by());
        return map;
    }

    /**
     * The changes in force, by policy.
     *
     * @param configured the rules without changes
     */
    public static Map<String, List<Map<String, Object>>> of(List<ChangedProperty> inForce, RulesInForce configured) {
        Map<String, List<Map<String, Object>>> byPolicy = new HashMap<>();
        for (ChangedProperty property : inForce) {
            String now = ConfiguredValue.of(configured, property.policy(), property.name());
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("property", property.name());
            map.put("to", property.shown());
            map.put("by", property.value().by());
            map.put("since", property.since().toString());
            put(map, "until", property.value().end());
            put(map, "reason", property.value().reason());
            map.put("configured", property.value().configured());
            put(map, "configuredNow", StaleChanges.isStale(property, now) ? now : null);
            byPolicy.computeIfAbsent(property.policy(), policy -> new ArrayList<>())
                    .add(map);
        }
        return byPolicy;
    }

    /** The description of a policy with its changes in force. */
    public static Map<String, Object> with(@Nullable List<Map<String, Object>> changes, Map<String, Object> policy) {
        put(policy, "changes", changes);
        return policy;
    }

    private static void put(Map<String, Object> map, String name, @Nullable Object value) {
        if (value != null) {
            map.put(name, value instanceof Instant moment ? moment.toString() : value);
        }
    }
}
