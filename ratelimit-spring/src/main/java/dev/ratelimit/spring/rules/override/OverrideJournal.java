package dev.ratelimit.spring.rules.override;

import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.RateLimitOverrideEvent.Action;
import dev.ratelimit.spring.RateLimitPolicies.OverriddenKey;
import dev.ratelimit.spring.rules.history.Asker;
import dev.ratelimit.spring.rules.history.ChangeHistory;
import dev.ratelimit.spring.rules.history.ChangeNote;
import dev.ratelimit.spring.rules.rule.LiveOverrides;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
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
 * @param history gets an entry for each
 * @param keys the hash of an encoded key
 * @param asker whoever sets and removes them
 * @param observer is told the policy and what was done
 * @param events publishes what becomes of overrides
 */
public record OverrideJournal(
        KeyOverrides overrides,
        ChangeHistory history,
        UnaryOperator<String> keys,
        Asker asker,
        BiConsumer<String, Map<String, Object>> observer,
        OverrideEvents events) {

    private static final Logger log = LoggerFactory.getLogger(OverrideJournal.class);

    /** What an entry of the history for a key has changed: an override replaces another one as a whole. */
    private static final Set<String> OVERRIDE = Set.of("override");

    /** A journal that publishes no events yet. */
    public static OverrideJournal of(
            KeyOverrides overrides,
            ChangeHistory history,
            UnaryOperator<String> keys,
            Asker asker,
            BiConsumer<String, Map<String, Object>> observer) {
        OverrideEvents events = new OverrideEvents((policy, key) -> keys.apply(overrides.encoded(policy, key)));
        overrides.observe((policy, override, action) -> {
            boolean known = action == Action.SET && !override.by().equals(Asker.APPLICATION);
            events.publish(policy, override, action, false, known ? override.by() : null);
        });
        return new OverrideJournal(overrides, history, keys, asker, observer, events);
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

    /** Sets an override, and describes it for JSON; {@code plain} if with its key. */
    public Map<String, Object> set(String policy, String key, KeyOverride override, boolean plain) {
        Overrides before = overrides.known();
        OverriddenKey set = overrides.set(policy, key, override, asker.kept());
        add(policy, set, earlier(before, policy, set));
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
        return report;
    }

    /** Removes an override; returns whether there was one. */
    public boolean remove(String policy, String key) {
        OverriddenKey removed = overrides.remove(policy, key);
        if (removed == null) {
            return false;
        }
        log.warn(
                "Rate limit {}: the override of key {} was removed by {}; it was {}",
                Quotation.of(policy),
                hash(policy, removed),
                asker.logged(),
                removed.limit());
        history.add(
                new HistoryEntry(
                        history.now(),
                        HistoryEntry.Action.REMOVE_OVERRIDE,
                        policy,
                        removed.key(),
                        removed.limit(),
                        null,
                        null,
                        null,
                        asker.kept()),
                OVERRIDE);
        tell("removedOverride", policy, removed);
        events.publish(policy, removed, Action.REMOVED, true, asker.name());
        return true;
    }

    private void add(String policy, OverriddenKey set, @Nullable String earlier) {
        history.add(
                new HistoryEntry(
                        set.since(),
                        HistoryEntry.Action.OVERRIDE,
                        policy,
                        set.key(),
                        earlier,
                        set.limit(),
                        set.until(),
                        set.reason(),
                        set.by()),
                OVERRIDE);
    }

    /** The limits of the override that another one has replaced; {@code null} if there was none. */
    private static @Nullable String earlier(Overrides before, String policy, OverriddenKey set) {
        Overrides.Value value = before.values().get(new Overrides.Key(policy, set.key()));
        return value == null || !value.isInForceAt(ChangeNote.micros(set.since()) * 1000) ? null : value.limit();
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
                        .map(one -> describe(policy, one, plain))
                        .toList());
    }

    /**
     * Describes the override that a request or a key has met, for JSON; {@code null} if it is no longer there.
     *
     * @param policy of the rule
     */
    public @Nullable Map<String, Object> report(String policy, LiveOverrides.Entry entry, boolean plain) {
        OverriddenKey found = overrides.find(policy, entry);
        return found == null ? null : describe(policy, found, plain);
    }

    private String hash(String policy, OverriddenKey one) {
        return keys.apply(overrides.encoded(policy, one.key()));
    }

    private void tell(String event, String policy, OverriddenKey one) {
        Map<String, Object> what = describe(policy, one, false);
        what.remove("limit");
        what.put(event, one.limit());
        observer.accept(policy, what);
    }

    private Map<String, Object> describe(String policy, OverriddenKey one, boolean plain) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("key", plain ? one.key() : hash(policy, one));
        map.put("limit", one.limit());
        if (one.until() != null) {
            map.put("until", one.until().toString());
        }
        if (one.reason() != null) {
            map.put("reason", one.reason());
        }
        map.put("by", one.by());
        map.put("since", one.since().toString());
        return map;
    }
}
