package dev.ratelimit.spring.rules.history;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.config.ChangedPolicy;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.rule.Rule;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What operators have done on this instance, or on all that share it, and what of that is in force. Thread-safe. */
public final class ChangeHistory {

    private static final Logger log = LoggerFactory.getLogger(ChangeHistory.class);

    private static final RateLimitChange NOTHING = new RateLimitChange(null, null, null);

    private final RequestRules rules;
    private final Ticker ticker;
    private final Supplier<List<ChangedProperty>> inForce;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile History known = History.NONE;
    private volatile @Nullable SharedHistory shared;

    /** Shows a key of a policy. */
    @FunctionalInterface
    public interface ShownKeys {

        /** The plain value of a key as it is to be shown. */
        String show(String policy, String key);
    }

    /**
     * Creates an empty history.
     *
     * @param ticker tells what has ended
     * @param inForce the changes of policies in force
     */
    public ChangeHistory(RequestRules rules, Ticker ticker, Supplier<List<ChangedProperty>> inForce) {
        this.rules = rules;
        this.ticker = ticker;
        this.inForce = inForce;
    }

    /** From now on, shares the history with other instances. */
    public void share(SharedHistory with) {
        shared = with;
    }

    /** What this instance knows. */
    public History known() {
        return known;
    }

    /** Adopts what other instances know. */
    public void adopt(History others) {
        lock.lock();
        try {
            known = known.and(others);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds an entry.
     *
     * @param properties what it has changed, such as limit
     */
    public void add(HistoryEntry entry, Set<String> properties) {
        HistoryLine line = new HistoryLine(entry, properties);
        lock.lock();
        try {
            known = known.and(line);
            SharedHistory others = shared;
            if (others != null) {
                known = known.and(others.exchange(known));
            }
        } catch (IllegalStateException e) {
            log.debug("Others are told with the next question", e);
        } finally {
            lock.unlock();
        }
    }

    /**
     * The entries, and what has ended by itself, the latest first.
     *
     * @param policy of these entries; {@code null} for all
     * @param limit how many at most
     * @throws IllegalArgumentException if the limit is less than 1 or more than {@link History#MAX}, or there is no such
     *     policy, nor an entry for it
     */
    public List<HistoryEntry> entries(@Nullable String policy, int limit) {
        if (limit < 1 || limit > History.MAX) {
            throw new IllegalArgumentException("limit must be from 1 to " + History.MAX + " but was " + limit);
        }
        List<HistoryEntry> entries =
                known.entries(policy, now()).stream().limit(limit).toList();
        if (entries.isEmpty() && policy != null) {
            Object unused = rules.inForce().rule(policy);
        }
        return entries;
    }

    /** This moment. */
    public Instant now() {
        return Instant.EPOCH.plusNanos(ticker.epochNanos());
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
                shared == null
                        ? "on this instance only, until it restarts"
                        : "on all instances, until the last of them stops",
                "history",
                entries(policy, limit).stream()
                        .map(entry -> HistoryReport.of(entry, key -> keys.show(entry.policy(), key)))
                        .toList());
    }

    /** Describes the changes in force, by policy, for JSON. */
    public Map<String, List<Map<String, Object>>> inForce() {
        List<ChangedProperty> changes = inForce.get();
        return changes.isEmpty()
                ? Map.of()
                : HistoryReport.of(changes, rules.read(Map.of()).rules());
    }

    /**
     * The policies as they would have to be configured to be as they are in force, by name.
     *
     * @param all whether also those that nobody has changed
     */
    public SortedMap<String, PolicyProperties> policies(boolean all) {
        Map<String, RateLimitChange> changes = rules.changes();
        SortedMap<String, PolicyProperties> policies = new TreeMap<>();
        rules.policiesAndExtra().forEach((name, policy) -> {
            RateLimitChange own = changes.get(name);
            RateLimitChange concurrency = changes.get(Rule.concurrencyOf(name));
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
