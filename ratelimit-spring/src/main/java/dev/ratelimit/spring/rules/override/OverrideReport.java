package dev.ratelimit.spring.rules.override;

import dev.ratelimit.spring.RateLimitPolicies.OverriddenKey;
import dev.ratelimit.spring.rules.rule.LiveOverrides;
import dev.ratelimit.spring.rules.rule.Rule;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Describes overrides of keys in terms of maps and texts, for JSON, with keys as their plain values or as hashes. */
public record OverrideReport(KeyOverrides overrides) {

    /** Those of a policy, under {@code overrides}. */
    public Map<String, Object> of(String policy, boolean plain) {
        return Map.of(
                "overrides",
                overrides.of(policy).stream()
                        .map(one -> listed(policy, one, plain))
                        .toList());
    }

    private Map<String, Object> listed(String policy, OverriddenKey one, boolean plain) {
        Map<String, Object> map = describe(policy, one, plain);
        String misfit = overrides.misfit(policy, one.key());
        if (misfit != null) {
            map.put("doesNotApply", plain ? misfit : "it does not fit the configuration of this instance");
        }
        return map;
    }

    /** One that was set, and what it has replaced. */
    public Map<String, Object> set(KeyOverrides.Replaced replaced, boolean plain) {
        String policy = replaced.policy();
        OverriddenKey now = Objects.requireNonNull(replaced.now());
        Map<String, Object> map = describe(policy, now, plain);
        map.put("holds", overrides.duration());
        addReplaced(map, replaced);
        String remark = overrides.remark(policy, now);
        if (remark != null) {
            map.put("remark", remark);
        }
        return map;
    }

    /** What was removed. */
    public Map<String, Object> removed(KeyOverrides.Replaced replaced) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("version", overrides.version(replaced.policy(), replaced.key()));
        addReplaced(map, replaced);
        return map;
    }

    /** With the key as whoever asks has written it, in its usual spelling, since that is not told to anybody else. */
    private static void addReplaced(Map<String, Object> map, KeyOverrides.Replaced replaced) {
        map.put("canonicalKey", replaced.key());
        OverriddenKey before = replaced.before();
        if (before != null) {
            Map<String, Object> earlier = new LinkedHashMap<>();
            earlier.put("limit", before.limit());
            addEnd(earlier, before);
            map.put("replaced", earlier);
        }
    }

    /** Adds the override that a request or a key has met under a rule to its description, if it is still there. */
    public void addMet(Map<String, Object> description, Rule rule, LiveOverrides.@Nullable Entry met, boolean plain) {
        if (met == null) {
            return;
        }
        String policy = rule.policy().name();
        // the concurrency limit beside a rate may have that of the rate
        for (String owner : List.of(policy, Rule.withoutConcurrency(policy))) {
            OverriddenKey found = overrides.of(owner, met.key());
            if (found != null) {
                description.put("liveOverride", describe(owner, found, plain));
                return;
            }
        }
    }

    private Map<String, Object> describe(String policy, OverriddenKey one, boolean plain) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("key", overrides.show(policy, one.key(), plain));
        map.put("limit", one.limit());
        addTerms(map, one);
        map.put("version", overrides.version(policy, one.key()));
        return map;
    }

    /** Adds until when it lasts, and who has set it, when and why. */
    static void addTerms(Map<String, Object> map, OverriddenKey one) {
        addEnd(map, one);
        map.put("by", one.by());
        map.put("since", one.since().toString());
    }

    private static void addEnd(Map<String, Object> map, OverriddenKey one) {
        if (one.until() != null) {
            map.put("until", one.until().toString());
        }
        if (one.reason() != null) {
            map.put("reason", one.reason());
        }
    }
}
