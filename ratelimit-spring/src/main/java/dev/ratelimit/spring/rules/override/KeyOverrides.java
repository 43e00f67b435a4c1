package dev.ratelimit.spring.rules.override;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitOverrideEvent;
import dev.ratelimit.spring.RateLimitOverrideEvent.Action;
import dev.ratelimit.spring.RateLimitPolicies.OverriddenKey;
import dev.ratelimit.spring.rules.decision.PolicyVersion;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.decision.StaleVersionException;
import dev.ratelimit.spring.rules.decision.UnknownPolicyException;
import dev.ratelimit.spring.rules.history.ChangeEnd;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.ChangeStore.Kind;
import dev.ratelimit.spring.rules.history.ChangeStore.Name;
import dev.ratelimit.spring.rules.history.ChangedValue;
import dev.ratelimit.spring.rules.history.EndAlarm;
import dev.ratelimit.spring.rules.history.OperatorActions;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.WellFormed;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The overrides of single keys that operators set while the application runs, on this instance or on all that share them.
 * Requests do not wait for it. Thread-safe.
 */
public final class KeyOverrides implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(KeyOverrides.class);

    /** How many overrides there may be, over all policies; with the length of a key and a reason, some megabytes. */
    static final int MAX = 10_000;

    /** How many are events if they change at once without anybody asking here. */
    private static final int MAX_EVENTS = 100;

    private static final int MAX_KEY = 256;
    private static final int MAX_REASON = 200;
    private static final int MAX_LIMIT = 100;

    /** The property of a key that is changed. */
    private static final String OVERRIDE = "override";

    private final RequestRules rules;
    private final ChangeStore store;
    private final EndAlarm ends;

    /** Of what is known. Nobody asks others under it, so that overrides end in time. */
    private final ReentrantLock lock = new ReentrantLock();

    /** By policy and by key, with those that do not apply here. Changed under the lock. */
    private final Map<String, Map<String, ChangedValue>> known = new ConcurrentHashMap<>();

    /** When they end. Used under the lock. */
    private final TreeSet<End> queue = new TreeSet<>(Comparator.comparingLong(End::untilMicros)
            .thenComparing(end -> end.name().text()));

    private final OverrideTables tables;

    private final UnaryOperator<String> hash;
    private final OperatorActions actions;

    private record End(Name name, long untilMicros) {}

    /**
     * What became of the override of a key.
     *
     * @param policy its name
     * @param key in its usual spelling
     * @param before the one that was replaced or removed; {@code null} if there was none
     * @param now the one that is in force; {@code null} for none
     */
    public record Replaced(
            String policy,
            String key,
            @Nullable OverriddenKey before,
            @Nullable OverriddenKey now) {}

    /**
     * No overrides yet.
     *
     * @param scheduler tells when overrides end
     * @param hash of an encoded key
     * @param actions who sets and removes them, and who is told
     */
    public KeyOverrides(
            RequestRules rules,
            ChangeStore store,
            Scheduler scheduler,
            UnaryOperator<String> hash,
            OperatorActions actions) {
        this.rules = rules;
        Ticker clock = store.clock();
        this.store = store;
        this.hash = hash;
        this.actions = actions;
        this.ends = new EndAlarm(scheduler, clock, this::end);
        this.tables = new OverrideTables(clock, ends::ring, known);
        rules.override(tables::under);
        store.observe(Kind.OVERRIDE, this::adopt);
    }

    /** Tells of nothing that ends from now on. */
    @Override
    public void close() {
        ends.close();
    }

    /** Where overrides hold, and how long those without an end last, for people. */
    String duration() {
        return store.duration();
    }

    /**
     * Sets the override of a key, here and on all instances, or nowhere.
     *
     * @param version of the key before; {@code null} for any
     * @throws UnknownPolicyException if there is no such policy
     * @throws IllegalArgumentException if the policy cannot have the override
     * @throws RateLimitConfigurationException likewise, if its limits are wrong
     * @throws StaleVersionException if the key has another version by now
     * @throws IllegalStateException if overrides cannot be shared at the moment
     */
    @CanIgnoreReturnValue
    public Replaced set(String policy, String key, KeyOverride override, @Nullable String version) {
        RulesInForce now = rules.inForce();
        Rule rule = now.rule(policy);
        WellFormed.check("key", key, MAX_KEY);
        WellFormed.check("limit", override.limit(), MAX_LIMIT);
        String reason = override.reason();
        WellFormed.check("reason", reason, MAX_REASON);
        Name name = Name.ofKey(policy, OverrideTables.keyOf(now, rule, key).value());
        String limit = override.limit().strip();
        checkWord(limit);
        if (rule.overrides().read(limit) instanceof LimitOverride.Limited limited) {
            checkCosts(now, policy, limited);
        }
        ChangeEnd end = new ChangeEnd(override.duration(), override.until())
                .check(store.now(), "to end an override, remove it", "without an end, it lasts as long as a change");
        Map<String, Object> value = new ChangedValue(limit, 0, 0, actions.kept(), reason, "").asked(end);
        Replaced replaced = change(name, version, ChangedValue.text(Map.of(OVERRIDE, value)), end, () -> {
            checkRoom(name);
            return entry(name, limit, reason);
        });
        OverriddenKey set = Objects.requireNonNull(replaced.now());
        log.warn(
                "Rate limit {}: key {} was overridden by {}: {}, {}{}",
                Quotation.of(policy),
                show(policy, set.key(), false),
                actions.logged(),
                set.limit(),
                set.until() == null ? store.duration() : "until " + set.until(),
                set.reason() == null ? "" : ", because of " + Quotation.of(set.reason()));
        tell("override", policy, set);
        publish(policy, set, Action.SET, true, actions.name());
        return replaced;
    }

    /**
     * Removes the override of a key.
     *
     * @param version of the key before; {@code null} for any
     * @return what there was; {@code null} if that was nothing
     * @throws UnknownPolicyException if there is no such policy, nor an override under it
     * @throws IllegalArgumentException if the policy cannot have overrides of such a key, and has none
     * @throws StaleVersionException if the key has another version by now
     * @throws IllegalStateException if overrides cannot be shared at the moment
     */
    @CanIgnoreReturnValue
    public @Nullable Replaced remove(String policy, String key, @Nullable String version) {
        Name name = Name.ofKey(policy, existing(policy, key));
        if (inForce(name) == null) {
            return null;
        }
        Replaced replaced = change(name, version, "", new ChangeEnd(null, null), () -> entry(name, null, null));
        OverriddenKey removed = replaced.before();
        if (removed == null) {
            return null;
        }
        log.warn(
                "Rate limit {}: the override of key {} was removed by {}; it was {}",
                Quotation.of(policy),
                show(policy, removed.key(), false),
                actions.logged(),
                removed.limit());
        tell("removedOverride", policy, removed);
        publish(policy, removed, Action.REMOVED, true, actions.name());
        return replaced;
    }

    private void tell(String event, String policy, OverriddenKey one) {
        Map<String, Object> what = new LinkedHashMap<>();
        what.put("key", show(policy, one.key(), false));
        OverrideReport.addTerms(what, one);
        what.put(event, one.limit());
        actions.tell(policy, what);
    }

    private void publish(String policy, OverriddenKey one, Action action, boolean here, @Nullable String by) {
        String key = show(policy, one.key(), actions.showKeys());
        actions.publish(
                new RateLimitOverrideEvent(policy, key, action, here, by, one.limit(), one.until(), one.reason()));
    }

    /** A key, as its plain value or as a hash. */
    public String show(String policy, String key, boolean plain) {
        return plain ? key : hash.apply(encoded(policy, key));
    }

    private Replaced change(
            Name name, @Nullable String version, String text, ChangeEnd end, Supplier<HistoryEntry> entry) {
        return store.change(
                () -> {
                    checkVersion(name, version);
                    return ChangeStore.Change.of(name, text, end, entry.get(), Set.of(OVERRIDE));
                },
                accepted -> {
                    OverriddenKey before = shown(name);
                    learn(Map.of(name, accepted));
                    ChangedValue now = ChangedValue.parse(accepted).get(OVERRIDE);
                    return new Replaced(name.policy(), name.key(), before, now == null ? null : describe(name, now));
                });
    }

    private HistoryEntry entry(Name name, @Nullable String to, @Nullable String reason) {
        ChangedValue before = inForce(name);
        String from = before == null ? null : before.to();
        HistoryEntry.Action action = to == null ? HistoryEntry.Action.REMOVE_OVERRIDE : HistoryEntry.Action.OVERRIDE;
        return new HistoryEntry(
                Instant.EPOCH, action, name.policy(), name.key(), from, to, null, reason, actions.kept());
    }

    private void checkVersion(Name name, @Nullable String version) {
        String is = version(name);
        if (version == null || version.equals(is)) {
            return;
        }
        OverriddenKey now = shown(name);
        String what = now == null
                ? "there is none now"
                : "it is " + now.limit() + " now, set by " + Quotation.of(now.by())
                        + (now.until() == null ? "" : " until " + now.until())
                        + (now.reason() == null ? "" : ", because of " + Quotation.of(now.reason()));
        throw new StaleVersionException("the override of this key was changed meanwhile, and " + what, is);
    }

    private String version(Name name) {
        return PolicyVersion.checksum(inForce(name) == null ? "" : store.text(name));
    }

    /** The version of a key under a policy, with an override or without one. */
    String version(String policy, String key) {
        return version(Name.ofKey(policy, key));
    }

    /** A limit begins with a number. */
    private static void checkWord(String limit) {
        boolean known = limit.isEmpty() || limit.equals("blocked") || limit.equals("unlimited");
        if (!known && (!Character.isDigit(limit.charAt(0)) || limit.matches("0+\\s*/.*"))) {
            throw new IllegalArgumentException(Quotation.of(limit)
                    + " is not a limit of a key; write blocked, unlimited, or limits such as 50/minute");
        }
    }

    /** A key in its usual spelling or, if it does not fit the policy of this instance, as it is listed. */
    private String existing(String policy, String key) {
        RulesInForce now = rules.including(policy);
        try {
            String usual = OverrideTables.keyOf(now, now.rule(policy), key).value();
            return isKnown(policy, usual) || !isKnown(policy, key) ? usual : key;
        } catch (IllegalArgumentException e) {
            if (isKnown(policy, key)) {
                return key;
            }
            throw e;
        }
    }

    private boolean isKnown(String policy, String key) {
        return known.getOrDefault(policy, Map.of()).containsKey(key);
    }

    /** A key as the policy encodes it; as it is written, if the policy has no such keys any more. */
    String encoded(String policy, String key) {
        RulesInForce now = rules.including(policy);
        try {
            return OverrideTables.keyOf(now, now.rule(policy), key).encoded();
        } catch (IllegalArgumentException e) {
            return key;
        }
    }

    /** An endpoint may charge a policy more than the rest. */
    private static void checkCosts(RulesInForce now, String policy, LimitOverride.Limited limited) {
        long max = capacity(limited.policy().limits());
        now.rulesOf(policy).mapToLong(rule -> rule.cost().typical()).max().ifPresent(permits -> {
            if (permits > max) {
                throw new IllegalArgumentException("a request to policy " + Quotation.of(policy) + " may cost "
                        + permits
                        + " permits, but this limit admits at most " + max + " at once; write a higher limit, or"
                        + " blocked");
            }
        });
    }

    private static long capacity(List<Limit> limits) {
        return limits.stream().mapToLong(Limit::capacity).min().orElseThrow();
    }

    private void checkRoom(Name name) {
        long others = known.values().stream().mapToLong(Map::size).sum() - (isKnown(name.policy(), name.key()) ? 1 : 0);
        if (others >= MAX) {
            throw new IllegalArgumentException("there are " + others + " overrides already, and at most " + MAX
                    + " are possible; remove some, or write a network in place of its addresses");
        }
    }

    /**
     * What an override takes from a key although its rate is not lower: a burst, which overrides do not have.
     *
     * @return {@code null} for nothing
     */
    @Nullable
    String remark(String policy, OverriddenKey set) {
        Rule rule = rules.inForce().rule(policy);
        if (!(rule.overrides().read(set.limit()) instanceof LimitOverride.Limited own)) {
            return null;
        }
        long is = capacity(own.policy().limits());
        // the plan of a key is known only with a request
        long was = Stream.concat(
                        Stream.of(rule.policy()),
                        rule.overrides().plans().values().stream()
                                .filter(LimitOverride.Limited.class::isInstance)
                                .map(plan -> ((LimitOverride.Limited) plan).policy()))
                .mapToLong(KeyOverrides::burst)
                .max()
                .orElse(0);
        return is >= was
                ? null
                : "an override has no burst: this key is admitted at most " + is
                        + " at once, and others under this policy up to " + was;
    }

    /** How many permits a bucket holds, if that is not one period's; otherwise 0. */
    private static long burst(Policy policy) {
        List<Limit> limits = policy.limits();
        long capacity = capacity(limits);
        return limits.size() == 1
                        && !limits.get(0).concurrency()
                        && capacity > limits.get(0).rate().permits()
                ? capacity
                : 0;
    }

    /** Adopts what instances share. */
    private void adopt(Map<String, String> texts) {
        Map<Name, String> different = new HashMap<>();
        texts.forEach((text, value) -> {
            Name name = new Name(Kind.OVERRIDE, text);
            if (!value.equals(store.text(name))) {
                different.put(name, value);
            }
        });
        known.forEach((policy, keys) -> keys.keySet().forEach(key -> {
            Name name = Name.ofKey(policy, key);
            if (!texts.containsKey(name.text())) {
                different.put(name, "");
            }
        }));
        if (different.isEmpty()) {
            return;
        }
        Map<Name, OverriddenKey> before = new HashMap<>();
        different.keySet().forEach(name -> before.computeIfAbsent(name, this::shown));
        learn(different);
        log.warn(
                "Other instances have changed {} overrides of single keys under rate limits; there are {}",
                different.size(),
                known.values().stream().mapToLong(Map::size).sum());
        Map<Name, OverriddenKey> set = new HashMap<>();
        different.keySet().forEach(name -> set.computeIfAbsent(name, this::shown));
        before.keySet().removeAll(set.keySet());
        tell(set, Action.SET);
        tell(before, Action.REMOVED);
        store.afterwards(() -> actions.tellReplaced(rules.allNames()));
    }

    private void learn(Map<Name, String> texts) {
        lock.lock();
        try {
            texts.forEach((name, text) -> {
                ChangedValue value = ChangedValue.parse(text).get(OVERRIDE);
                leaveQueue(name);
                if (value == null) {
                    forget(name);
                } else {
                    known.computeIfAbsent(name.policy(), policy -> new ConcurrentHashMap<>())
                            .put(name.key(), value);
                    if (value.until() != ChangedValue.NEVER) {
                        queue.add(new End(name, value.until()));
                    }
                }
                tables.change(name);
            });
            rules.override(tables::under);
            setAlarm();
        } finally {
            lock.unlock();
        }
    }

    private void leaveQueue(Name name) {
        ChangedValue value = tables.value(name);
        if (value != null) {
            queue.remove(new End(name, value.until()));
        }
    }

    private void forget(Name name) {
        Map<String, ChangedValue> keys = known.get(name.policy());
        if (keys != null) {
            keys.remove(name.key());
            if (keys.isEmpty()) {
                known.remove(name.policy());
            }
        }
    }

    private void setAlarm() {
        End next = queue.isEmpty() ? null : queue.first();
        ends.set(next == null ? ChangedValue.NEVER : next.untilMicros());
    }

    /** Forgets what has ended, so that it does not come back, whatever becomes of the clock. Whoever sees an end rings. */
    private void end() {
        Map<Name, OverriddenKey> ended = new HashMap<>();
        lock.lock();
        try {
            long now = store.nowMicros();
            while (!queue.isEmpty() && queue.first().untilMicros() <= now) {
                End end = Objects.requireNonNull(queue.pollFirst());
                ended.put(end.name(), describe(end.name(), Objects.requireNonNull(tables.value(end.name()))));
                forget(end.name());
                store.end(end.name(), "", end.untilMicros());
                tables.change(end.name());
            }
            if (!ended.isEmpty()) {
                rules.override(tables::under);
            }
            setAlarm();
            tell(ended, Action.EXPIRED);
        } finally {
            lock.unlock();
        }
    }

    private void tell(Map<Name, OverriddenKey> some, Action action) {
        if (some.size() <= MAX_EVENTS) {
            some.entrySet().stream()
                    .sorted(Comparator.comparing(one -> one.getKey().text()))
                    .forEach(one -> tell(one.getKey().policy(), one.getValue(), action));
        } else {
            log.info("{} overrides of single keys under rate limits are {}", some.size(), PropertyName.of(action));
        }
    }

    private void tell(String policy, OverriddenKey one, Action action) {
        boolean known = action == Action.SET && !one.by().equals(OperatorActions.APPLICATION);
        publish(policy, one, action, false, known ? one.by() : null);
    }

    private @Nullable ChangedValue inForce(Name name) {
        ChangedValue value = tables.value(name);
        if (value != null && value.hasEndedAt(store.nowMicros())) {
            ends.ring();
            return null;
        }
        return value;
    }

    private @Nullable OverriddenKey shown(Name name) {
        ChangedValue value = inForce(name);
        return value == null ? null : describe(name, value);
    }

    /** How many of a policy apply on this instance. */
    public long count(String policy) {
        return known.getOrDefault(policy, Map.of()).keySet().stream()
                .filter(key -> misfit(policy, key) == null)
                .count();
    }

    /** Why an override does not apply on this instance; {@code null} if it does. */
    @Nullable
    String misfit(String policy, String key) {
        return tables.misfit(Name.ofKey(policy, key));
    }

    /** The override of a key in its usual spelling; {@code null} if there is none. */
    @Nullable
    OverriddenKey of(String policy, String key) {
        return shown(Name.ofKey(policy, key));
    }

    /**
     * The overrides of a policy that have not ended, by key.
     *
     * @throws UnknownPolicyException if there is no such policy, nor an override under it
     */
    public List<OverriddenKey> of(String policy) {
        List<OverriddenKey> all = new ArrayList<>();
        known.getOrDefault(policy, Map.of()).keySet().stream().sorted().forEach(key -> {
            OverriddenKey one = shown(Name.ofKey(policy, key));
            if (one != null) {
                all.add(one);
            }
        });
        if (all.isEmpty()) {
            Rule unused = rules.including(policy).rule(policy);
        }
        return all;
    }

    private static OverriddenKey describe(Name name, ChangedValue value) {
        return new OverriddenKey(
                name.key(), value.to(), value.end(), value.reason(), value.by(), ChangedValue.instant(value.since()));
    }
}
