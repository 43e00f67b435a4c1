package dev.ratelimit.spring.rules.override;

import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.RateLimitOverrideEvent.Action;
import dev.ratelimit.spring.RateLimitPolicies.OverriddenKey;
import dev.ratelimit.spring.rules.history.Asker;
import dev.ratelimit.spring.rules.rule.LiveOverrides;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets and removes overrides of keys, and tells who did so, to logs and observers. Thread-safe.
 *
 * @param overrides what is set
 * @param keys the hash of an encoded key
 * @param asker whoever sets and removes them
 * @param observer is told the policy and what was done
 * @param events publishes what becomes of overrides
 */
public record OverrideJournal(
        KeyOverrides overrides,
        UnaryOperator<String> keys,
        Asker asker,
        BiConsumer<String, Map<String, Object>> observer,
        OverrideEvents events) {

    private static final Logger log = LoggerFactory.getLogger(OverrideJournal.class);

    /** A journal that publishes no events yet. */
    public static OverrideJournal of(
            KeyOverrides overrides,
            UnaryOperator<String> keys,
            Asker asker,
            BiConsumer<String, Map<String, Object>> observer) {
        OverrideEvents events = new OverrideEvents((policy, key) -> keys.apply(overrides.encoded(policy, key)));
        overrides.observe((policy, override, action) -> {
            boolean known = action == Action.SET && !override.by().equals(Asker.APPLICATION);
            events.publish(policy, override, action, false, known ? override.by() : null);
        });
        return new OverrideJournal(overrides, keys, asker, observer, events);
    }

    /**
     * From now on, publishes what becomes of overrides as events.
     *
     * @param to hands an event to listeners
     * @param plain whether events show keys as their plain values, not as hashes
     */
    public void publishTo(Consumer<Object> to, boolean plain) {
        events.publishTo(to, plain);
    }

    /**
     * Sets an override, and describes it for JSON, with what it has replaced.
     *
     * @param version of the key before; {@code null} for any
     * @param plain whether with the key as its plain value
     */
    public Map<String, Object> set(
            String policy, String key, KeyOverride override, @Nullable String version, boolean plain) {
        KeyOverrides.Replaced replaced = overrides.set(policy, key, override, asker.kept(), version);
        OverriddenKey set = Objects.requireNonNull(replaced.now());
        log.warn(
                "Rate limit {}: key {} was overridden by {}: {}, {}{}",
                Quotation.of(policy),
                hash(policy, set),
                asker.logged(),
                set.limit(),
                set.until() == null ? overrides.duration() : "until " + set.until(),
                set.reason() == null ? "" : ", because of " + Quotation.of(set.reason()));
        tell("override", policy, set);
        events.publish(policy, set, Action.SET, true, asker.name());
        Map<String, Object> report = describe(policy, set, plain);
        report.put("holds", overrides.duration());
        addReplaced(report, replaced);
        String remark = overrides.remark(policy, set);
        if (remark != null) {
            report.put("remark", remark);
        }
        return report;
    }

    /**
     * Removes an override, and describes for JSON what it was.
     *
     * @param version of the key before; {@code null} for any
     * @return {@code null} if there was none
     */
    public @Nullable Map<String, Object> remove(String policy, String key, @Nullable String version) {
        KeyOverrides.Replaced replaced = overrides.remove(policy, key, asker.kept(), version);
        OverriddenKey removed = replaced == null ? null : replaced.before();
        if (replaced == null || removed == null) {
            return null;
        }
        log.warn(
                "Rate limit {}: the override of key {} was removed by {}; it was {}",
                Quotation.of(policy),
                hash(policy, removed),
                asker.logged(),
                removed.limit());
        tell("removedOverride", policy, removed);
        events.publish(policy, removed, Action.REMOVED, true, asker.name());
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("version", overrides.version(policy, replaced.key()));
        addReplaced(report, replaced);
        return report;
    }

    /** With the key as whoever asks has written it, in its usual spelling, since that is not told to anybody else. */
    private static void addReplaced(Map<String, Object> report, KeyOverrides.Replaced replaced) {
        report.put("canonicalKey", replaced.key());
        OverriddenKey before = replaced.before();
        if (before != null) {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("limit", before.limit());
            addTerms(map, before);
            report.put("replaced", map);
        }
    }

    private static void addTerms(Map<String, Object> map, OverriddenKey one) {
        if (one.until() != null) {
            map.put("until", one.until().toString());
        }
        if (one.reason() != null) {
            map.put("reason", one.reason());
        }
    }

    /** A key, as its plain value or as a hash. */
    public String show(String policy, String key, boolean plain) {
        return plain ? key : keys.apply(overrides.encoded(policy, key));
    }

    /** Describes those of a policy, for JSON. */
    public Map<String, Object> report(String policy, boolean plain) {
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

    /**
     * Describes the override that a request or a key has met, for JSON; {@code null} if it is no longer there.
     *
     * @param policy of the rule
     */
    public @Nullable Map<String, Object> report(String policy, LiveOverrides.Entry entry, boolean plain) {
        // the concurrency limit beside a rate may have that of the rate
        for (String owner : List.of(policy, Rule.withoutConcurrency(policy))) {
            OverriddenKey found = overrides.of(owner, entry.key());
            if (found != null) {
                return describe(owner, found, plain);
            }
        }
        return null;
    }

    private String hash(String policy, OverriddenKey one) {
        return keys.apply(overrides.encoded(policy, one.key()));
    }

    private void tell(String event, String policy, OverriddenKey one) {
        Map<String, Object> what = describe(policy, one, false);
        what.remove("limit");
        what.remove("version");
        what.put(event, one.limit());
        observer.accept(policy, what);
    }

    private Map<String, Object> describe(String policy, OverriddenKey one, boolean plain) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("key", plain ? one.key() : hash(policy, one));
        map.put("limit", one.limit());
        addTerms(map, one);
        map.put("by", one.by());
        map.put("since", one.since().toString());
        map.put("version", overrides.version(policy, one.key()));
        return map;
    }
}
