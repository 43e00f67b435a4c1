package dev.ratelimit.spring.rules.override;

import dev.ratelimit.Limit;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitOverrideEvent.Action;
import dev.ratelimit.spring.RateLimitPolicies.OverriddenKey;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.decision.UnknownPolicyException;
import dev.ratelimit.spring.rules.history.ChangeEnd;
import dev.ratelimit.spring.rules.history.ChangeNote;
import dev.ratelimit.spring.rules.history.Turns;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.LiveOverrides;
import dev.ratelimit.spring.rules.rule.OverrideKey;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.WellFormed;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

    private static final int MAX_KEY = 256;
    private static final int MAX_REASON = 200;
    private static final int MAX_LIMIT = 100;

    /** How many overrides that have ended are remembered, before the oldest of them are forgotten early. */
    static final int MAX_ENDED = 10_000;

    /** How many are then forgotten at once, since each time costs instances a comparison. */
    private static final int ENDED_STEP = 1_000;

    /** How long an override that has ended is remembered if there are others who might not know that. */
    private static final long REMEMBERED_MICROS = 24 * 3600 * 1_000_000L;

    /** All instances forget at the same moments. */
    private static final long STEP_MICROS = 3600 * 1_000_000L;

    /** How often another instance may be first. */
    private static final int ATTEMPTS = 20;

    private final RequestRules rules;
    private final Ticker ticker;
    private final Turns turns;

    private volatile Overrides known = Overrides.NONE;
    private volatile @Nullable SharedOverrides shared;

    private final EndedOverrides ends;

    /** Is told what happens to overrides without anybody asking here. */
    private volatile Observer observer = (policy, override, action) -> {};

    /** Those that were logged because they do not fit the rules. Used under the lock of the rules. */
    private Set<Overrides.Key> unfit = Set.of();

    /** Is told what happens to an override. */
    @FunctionalInterface
    interface Observer {

        void changed(String policy, OverriddenKey override, Action action);
    }

    /**
     * No overrides.
     *
     * @param scheduler tells when overrides end
     */
    public KeyOverrides(RequestRules rules, Ticker ticker, Scheduler scheduler) {
        this.rules = rules;
        this.ticker = ticker;
        this.turns = new Turns(ticker);
        this.ends = new EndedOverrides(scheduler, ticker, ended -> tell(ended, Action.EXPIRED));
    }

    /** From now on, shares overrides with other instances. */
    public void share(SharedOverrides with) {
        shared = with;
    }

    /** What this instance knows, overrides that have ended included. */
    public Overrides known() {
        return known;
    }

    void observe(Observer by) {
        observer = by;
    }

    /** Tells of nothing that ends from now on. */
    @Override
    public void close() {
        ends.close();
    }

    /** Where overrides hold, and how long those without an end last, for people. */
    String duration() {
        return shared == null
                ? "on this instance only, until it restarts"
                : "on all instances, until the last of them stops";
    }

    /**
     * Sets the override of a key, here and on all instances, or nowhere.
     *
     * @param by who asks
     * @throws UnknownPolicyException if there is no such policy
     * @throws IllegalArgumentException if the policy cannot have the override
     * @throws RateLimitConfigurationException likewise, if its limits are wrong
     * @throws IllegalStateException if overrides cannot be shared at the moment
     */
    OverriddenKey set(String policy, String key, KeyOverride override, String by) {
        RulesInForce now = rules.inForce();
        Rule rule = now.rule(policy);
        check("key", key, MAX_KEY);
        check("limit", override.limit(), MAX_LIMIT);
        String reason = override.reason();
        check("reason", reason == null ? "" : reason, MAX_REASON);
        String canonical = keyOf(now, rule, key).value();
        if (rule.overrides().read(override.limit()) instanceof LimitOverride.Limited limited) {
            checkCosts(now, policy, limited);
        }
        Overrides.Key of = new Overrides.Key(policy, canonical);
        Overrides.Value value =
                accept(of, Overrides.Value.of(until(override), override.limit().strip(), reason, by));
        return describe(of, value);
    }

    /**
     * Removes the override of a key.
     *
     * @return the override; {@code null} if there was none
     * @throws UnknownPolicyException if there is no such policy
     * @throws IllegalArgumentException if the policy cannot have overrides of such a key
     * @throws IllegalStateException if overrides cannot be shared at the moment
     */
    @Nullable
    OverriddenKey remove(String policy, String key) {
        RulesInForce now = rules.including(policy);
        Overrides.Key of =
                new Overrides.Key(policy, keyOf(now, now.rule(policy), key).value());
        Overrides.Value before = known.values().get(of);
        if (before == null || !before.isInForceAt(ticker.epochNanos())) {
            return null;
        }
        Overrides.Value unused = accept(of, Overrides.Value.removed());
        return describe(of, before);
    }

    private static void check(String name, String text, int max) {
        if (text.length() > max) {
            throw new IllegalArgumentException(
                    name + " must have at most " + max + " characters but has " + text.length());
        }
        WellFormed.check(name, text);
    }

    /** How the policy of a rule encodes a key, which other instances are to read as it is. */
    static OverrideKey keyOf(RulesInForce now, Rule rule, String key) {
        WellFormed.check("key", key);
        return OverrideKey.ofPlain(rule.key(), now.sources(), key);
    }

    /** A key as the policy encodes it; as it is written, if the policy has no such keys any more. */
    String encoded(String policy, String key) {
        RulesInForce now = rules.including(policy);
        try {
            return keyOf(now, now.rule(policy), key).encoded();
        } catch (IllegalArgumentException e) {
            return key;
        }
    }

    /** An endpoint may charge a policy more than the rest. */
    private static void checkCosts(RulesInForce now, String policy, LimitOverride.Limited limited) {
        long max = limited.policy().limits().stream()
                .mapToLong(Limit::capacity)
                .min()
                .orElseThrow();
        now.rulesOf(policy).mapToLong(rule -> rule.cost().typical()).max().ifPresent(permits -> {
            if (permits > max) {
                throw new IllegalArgumentException("a request to policy " + Quotation.of(policy) + " may cost "
                        + permits
                        + " permits, but this limit admits at most " + max + " at once; write a higher limit, or"
                        + " blocked");
            }
        });
    }

    /** When it ends, in microseconds. */
    private long until(KeyOverride override) {
        long end = new ChangeEnd(
                        Instant.EPOCH.plusNanos(ticker.epochNanos()),
                        "to end an override, remove it",
                        "without an end, it lasts as long as a change")
                .micros(override.duration(), override.until());
        return end == ChangeNote.NEVER ? Overrides.NEVER : end;
    }

    private Overrides.Value accept(Overrides.Key key, Overrides.Value value) {
        long deadline = turns.take();
        try {
            for (int i = 0; i < ATTEMPTS; i++) {
                turns.checkInTime(deadline);
                checkRoom(key, value);
                SharedOverrides others = shared;
                if (others == null) {
                    long at = Math.max(Math.floorDiv(ticker.epochNanos(), 1000), known.latest() + 1);
                    learn(known.and(key, value.at(at)).without(at));
                    return value.at(at);
                }
                SharedOverrides.Answer answer = others.exchange(known, key, value);
                learn(known.and(answer.all()));
                Overrides.Value accepted = known.values().get(key);
                if (answer.accepted() && accepted != null) {
                    return accepted;
                }
            }
            throw new IllegalStateException("other instances are setting overrides at this moment; try again");
        } finally {
            turns.pass();
        }
    }

    private void checkRoom(Overrides.Key key, Overrides.Value value) {
        long now = ticker.epochNanos();
        long others = known.values().entrySet().stream()
                .filter(entry -> entry.getValue().isInForceAt(now))
                .filter(entry -> !entry.getKey().equals(key))
                .count();
        if (others >= MAX && !value.text().isEmpty()) {
            throw new IllegalArgumentException("there are " + others + " overrides already, and at most " + MAX
                    + " are possible; remove some, or write a network in place of its addresses");
        }
    }

    /** Puts the overrides of other instances in force, unless they are known already; returns whether there are others. */
    @SuppressWarnings("ReferenceEquality") // fast, for thousands
    public boolean adopt(Overrides others) {
        if (others == known) {
            return false;
        }
        turns.await();
        try {
            Overrides all = known.and(others);
            if (all.equals(known)) {
                return false;
            }
            Overrides before = inForce(known);
            Overrides now = inForce(all);
            learn(all);
            log.warn(
                    "Other instances have changed overrides of single keys under rate limits; there were {}, and are {}",
                    before.values().size(),
                    now.values().size());
            tell(now.where((key, value) -> !value.equals(before.values().get(key))), Action.SET);
            tell(before.where((key, value) -> !now.values().containsKey(key)), Action.REMOVED);
            return true;
        } finally {
            turns.pass();
        }
    }

    /** Those that have not ended. */
    private Overrides inForce(Overrides all) {
        long now = ticker.epochNanos();
        return all.where((key, value) -> value.isInForceAt(now));
    }

    private void tell(Overrides some, Action action) {
        if (some.values().size() <= OverrideEvents.MAX_AT_ONCE) {
            some.values().forEach((key, value) -> observer.changed(key.policy(), describe(key, value), action));
        } else {
            log.info(
                    "{} overrides of single keys under rate limits are {}",
                    some.values().size(),
                    PropertyName.of(action));
        }
    }

    /** How many of a policy are in force. */
    public long count(String policy) {
        long now = ticker.epochNanos();
        return known.values().entrySet().stream()
                .filter(entry -> entry.getKey().policy().equals(policy))
                .filter(entry -> entry.getValue().isInForceAt(now))
                .count();
    }

    private void learn(Overrides all) {
        known = all;
        rules.override(this::tables);
        ends.watch(all);
    }

    /**
     * Forgets what ended a day ago, also by the clock of this instance, so that others need not be told; and, if too many
     * have ended since, the oldest of these.
     *
     * @param nowMicros the time that all instances share
     */
    public void forget(long nowMicros) {
        long now = Math.min(nowMicros, Math.floorDiv(ticker.epochNanos(), 1000));
        long day = Math.floorDiv(now - REMEMBERED_MICROS, STEP_MICROS) * STEP_MICROS;
        long horizon = Math.max(day, endOfTooMany(now));
        if (known.values().values().stream().anyMatch(value -> value.until() <= horizon)) {
            turns.await();
            try {
                learn(known.without(horizon));
            } finally {
                turns.pass();
            }
        }
    }

    /** When the last one ended of those that are too many to be remembered; 0 if there are none. */
    private long endOfTooMany(long now) {
        if (known.values().size() <= MAX_ENDED) {
            return 0;
        }
        long[] ends = known.values().values().stream()
                .mapToLong(Overrides.Value::until)
                .filter(until -> until <= now)
                .sorted()
                .toArray();
        return ends.length <= MAX_ENDED ? 0 : ends[ends.length - (MAX_ENDED - ENDED_STEP) - 1];
    }

    /** What applies under these rules, by policy; what does not fit them is left out. */
    private Map<String, LiveOverrides> tables(RulesInForce now) {
        Map<String, Map<OverrideKey, LiveOverrides.Entry>> byPolicy = new HashMap<>();
        Map<String, Map<String, LimitOverride>> read = new HashMap<>();
        Set<Overrides.Key> doNotFit = new HashSet<>();
        long nanos = ticker.epochNanos();
        known.values().forEach((key, value) -> {
            Rule rule = now.byPolicy().get(key.policy());
            if (!value.isInForceAt(nanos)) {
                return;
            }
            try {
                if (rule == null) {
                    throw new IllegalArgumentException("there is no such policy");
                }
                LimitOverride override = read.computeIfAbsent(key.policy(), policy -> new HashMap<>())
                        .computeIfAbsent(value.limit(), rule.overrides()::read);
                long until = value.until() == Overrides.NEVER ? LiveOverrides.NEVER : value.until() * 1000;
                byPolicy.computeIfAbsent(key.policy(), policy -> new HashMap<>())
                        .put(keyOf(now, rule, key.key()), new LiveOverrides.Entry(override, until, key.key()));
            } catch (IllegalArgumentException | RateLimitConfigurationException e) {
                doNotFit.add(key);
                if (!unfit.contains(key)) {
                    log.warn(
                            "An override of a key under rate limit {} does not apply on this instance: {}",
                            Quotation.of(key.policy()),
                            e.getMessage());
                }
            }
        });
        unfit = doNotFit;
        addToConcurrency(byPolicy, now);
        Map<String, LiveOverrides> live = new HashMap<>();
        byPolicy.forEach((policy, entries) -> live.put(policy, LiveOverrides.of(ticker, now.rule(policy), entries)));
        return live;
    }

    /** As in the configuration, who is blocked or unlimited is so by both limits of a policy. */
    private static void addToConcurrency(
            Map<String, Map<OverrideKey, LiveOverrides.Entry>> byPolicy, RulesInForce now) {
        for (String policy : List.copyOf(byPolicy.keySet())) {
            String beside = Rule.concurrencyOf(policy);
            if (now.byPolicy().containsKey(beside)) {
                Map<OverrideKey, LiveOverrides.Entry> own = byPolicy.computeIfAbsent(beside, name -> new HashMap<>());
                byPolicy.getOrDefault(policy, Map.of()).forEach((key, entry) -> {
                    if (entry.override() instanceof LimitOverride.Fixed) {
                        own.putIfAbsent(key, entry);
                    }
                });
            }
        }
    }

    /**
     * The override that a request or a key has met; {@code null} if it is no longer there.
     *
     * @param policy of the rule, which may be that of the concurrency limit beside a rate
     */
    public @Nullable OverriddenKey find(String policy, LiveOverrides.Entry entry) {
        for (String name : List.of(policy, Rule.withoutConcurrency(policy))) {
            Overrides.Key key = new Overrides.Key(name, entry.key());
            Overrides.Value value = known.values().get(key);
            if (value != null && value.isInForceAt(ticker.epochNanos())) {
                return describe(key, value);
            }
        }
        return null;
    }

    /**
     * The overrides of a policy that are in force, by key.
     *
     * @throws UnknownPolicyException if there is no such policy
     */
    public List<OverriddenKey> of(String policy) {
        Rule unused = rules.including(policy).rule(policy);
        long now = ticker.epochNanos();
        return known.values().entrySet().stream()
                .filter(entry -> entry.getKey().policy().equals(policy))
                .filter(entry -> entry.getValue().isInForceAt(now))
                .map(entry -> describe(entry.getKey(), entry.getValue()))
                .sorted(Comparator.comparing(OverriddenKey::key))
                .toList();
    }

    private static OverriddenKey describe(Overrides.Key key, Overrides.Value value) {
        return new OverriddenKey(
                key.key(),
                value.limit(),
                value.until() == Overrides.NEVER ? null : instant(value.until()),
                value.reason().isEmpty() ? null : value.reason(),
                value.by(),
                instant(value.at()));
    }

    private static Instant instant(long micros) {
        return Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1000);
    }
}
