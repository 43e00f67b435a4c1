package dev.ratelimit.spring.rules.history;

import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.config.ChangedPolicy;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.rule.Rule;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What operators have done on this instance, or on all that share it, and what of that is in force. Thread-safe. */
public final class ChangeHistory {

    private static final RateLimitChange NOTHING = new RateLimitChange(null, null, null);

    private final RequestRules rules;
    private final ChangeStore changes;

    /** Shows a key of a policy. */
    @FunctionalInterface
    public interface ShownKeys {

        /** The plain value of a key as it is to be shown. */
        String show(String policy, String key);
    }

    /** The history of these changes. */
    public ChangeHistory(RequestRules rules, ChangeStore changes) {
        this.rules = rules;
        this.changes = changes;
    }

    /**
     * The entries, and what has ended by itself, the latest first.
     *
     * @param policy of these entries; {@code null} for all
     * @param limit how many at most
     * @throws IllegalArgumentException if the limit is less than 1 or more than {@link ChangeStore#MAX_HISTORY}, or there is no such
     *     policy, nor an entry for it
     */
    public List<HistoryEntry> entries(@Nullable String policy, int limit) {
        if (limit < 1 || limit > ChangeStore.MAX_HISTORY) {
            throw new IllegalArgumentException(
                    "limit must be from 1 to " + ChangeStore.MAX_HISTORY + " but was " + limit);
        }
        List<HistoryEntry> entries =
                entries(policy, changes.now()).stream().limit(limit).toList();
        if (entries.isEmpty() && policy != null) {
            Object unused = rules.inForce().rule(policy);
        }
        return entries;
    }

    /** Nobody writes down what ends by itself, which several instances would do: each entry knows its end. */
    private List<HistoryEntry> entries(@Nullable String policy, Instant now) {
        List<HistoryEntry> entries = new ArrayList<>();
        Map<ChangeStore.Name, List<RecordedChange>> later = new HashMap<>();
        for (String text : changes.history()) {
            RecordedChange change = RecordedChange.parse(text);
            if (policy == null || policy.equals(change.entry().policy())) {
                List<RecordedChange> after = later.computeIfAbsent(change.subject(), subject -> new ArrayList<>());
                Instant until = change.entry().until();
                if (until != null && !until.isAfter(now) && isLeft(change, until, after)) {
                    entries.add(endOf(change.entry(), until));
                }
                entries.add(change.entry());
                after.add(change);
            }
        }
        entries.sort(Comparator.comparing(HistoryEntry::time).reversed());
        return entries;
    }

    /** Whether something that an entry has changed was not replaced before its end. */
    private static boolean isLeft(RecordedChange change, Instant until, List<RecordedChange> later) {
        Set<String> properties = new HashSet<>(change.properties());
        later.stream()
                .filter(other -> other.entry().time().isBefore(until))
                .forEach(other -> properties.removeAll(other.properties()));
        return !properties.isEmpty();
    }

    private static HistoryEntry endOf(HistoryEntry entry, Instant until) {
        return new HistoryEntry(
                until, HistoryEntry.Action.EXPIRY, entry.policy(), entry.key(), entry.to(), null, null, null, null);
    }

    /**
     * Describes the entries, for JSON.
     *
     * @param policy of these entries; {@code null} for all
     * @param limit how many at most
     * @throws IllegalArgumentException as {@link #entries}
     */
    public Map<String, Object> report(@Nullable String policy, int limit, ShownKeys keys) {
        return Map.of(
                "holds",
                changes.duration(),
                "history",
                entries(policy, limit).stream()
                        .map(entry -> HistoryReport.of(entry, key -> keys.show(entry.policy(), key)))
                        .toList());
    }

    /**
     * The policies as they would have to be configured to be as they are in force, by name.
     *
     * @param all whether also those that nobody has changed
     */
    public SortedMap<String, PolicyProperties> policies(boolean all) {
        Map<String, RateLimitChange> changed = rules.changes();
        SortedMap<String, PolicyProperties> policies = new TreeMap<>();
        rules.policiesAndExtra().forEach((name, policy) -> {
            RateLimitChange own = changed.get(name);
            RateLimitChange concurrency = changed.get(Rule.concurrencyOf(name));
            if (all || own != null || concurrency != null) {
                policies.put(
                        name,
                        ChangedPolicy.of(
                                policy,
                                Objects.requireNonNullElse(own, NOTHING),
                                Objects.requireNonNullElse(concurrency, NOTHING)));
            }
        });
        return policies;
    }
}
