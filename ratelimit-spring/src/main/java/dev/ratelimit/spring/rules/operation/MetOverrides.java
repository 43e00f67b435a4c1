package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.spring.rules.rule.LiveOverrides;
import dev.ratelimit.spring.rules.rule.Rule;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Describes the overrides by operators that requests and keys have met, for JSON. */
@FunctionalInterface
interface MetOverrides {

    /** Whose it is, its limits, its end, its reason and who has set it; {@code null} if it is no longer there. */
    @Nullable
    Map<String, Object> describe(Rule rule, LiveOverrides.Entry entry);

    /** Adds an override to the description of a request or a key under a rule, if it has met one. */
    default void addTo(Map<String, Object> description, Rule rule, LiveOverrides.@Nullable Entry entry) {
        Map<String, Object> override = entry == null ? null : describe(rule, entry);
        if (override != null) {
            description.put("liveOverride", override);
        }
    }
}
