package dev.ratelimit.spring.rules.override;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.history.ChangeStore.Name;
import dev.ratelimit.spring.rules.history.ChangedValue;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.LiveOverrides;
import dev.ratelimit.spring.rules.rule.OverrideKey;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.WellFormed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What applies of overrides under the rules in force: the tables that requests look into. Other rules have tables of their
 * own; for the same rules, only what has changed is read, as there may be thousands. The lock of the rules guards all but
 * {@link #change}, {@link #misfit} and {@link #value}, which are thread-safe.
 */
final class OverrideTables {

    private static final Logger log = LoggerFactory.getLogger(OverrideTables.class);

    private final Ticker clock;
    private final Runnable whenEnded;

    /** All overrides, by policy and by key. */
    private final Map<String, Map<String, ChangedValue>> known;

    /** Those that have changed since the tables were read. */
    private final Queue<Name> changed = new ConcurrentLinkedQueue<>();

    /** Why some do not apply here. */
    private final Map<Name, String> misfits = new ConcurrentHashMap<>();

    /** Of these, those that were not logged. */
    private final List<Name> newMisfits = new ArrayList<>();

    private final Map<String, LiveOverrides> tables = new HashMap<>();
    private Map<String, Rule> tablesOf = Map.of();

    /**
     * Tables that are empty until they are read.
     *
     * @param clock tells which overrides have ended
     * @param whenEnded is told of a request that meets one that has ended; must return quickly
     * @param known all overrides, by policy and by key, also later
     */
    OverrideTables(Ticker clock, Runnable whenEnded, Map<String, Map<String, ChangedValue>> known) {
        this.clock = clock;
        this.whenEnded = whenEnded;
        this.known = known;
    }

    /** What is known of this key is not what it was. */
    void change(Name name) {
        changed.add(name);
    }

    /** Why an override does not apply on this instance; {@code null} if it does. */
    @Nullable
    String misfit(Name name) {
        return misfits.get(name);
    }

    /** What applies under these rules, by policy; what does not fit them is left out. */
    @SuppressWarnings("ReferenceEquality") // those that were read anew are others
    Map<String, LiveOverrides> under(RulesInForce now) {
        Set<Name> misfitsBefore = Set.of();
        if (now.byPolicy() != tablesOf) {
            tablesOf = now.byPolicy();
            misfitsBefore = Set.copyOf(misfits.keySet());
            changed.clear();
            tables.clear();
            misfits.clear();
            Map<String, LimitOverride> read = new HashMap<>();
            known.forEach((policy, keys) -> {
                read.clear();
                keys.keySet().forEach(key -> update(now, Name.ofKey(policy, key), read));
            });
        } else {
            for (Name name = changed.poll(); name != null; name = changed.poll()) {
                update(now, name, new HashMap<>());
            }
        }
        tellMisfits(misfitsBefore);
        return tables;
    }

    /** One line for thousands, and no keys in it. */
    private void tellMisfits(Set<Name> before) {
        Map<String, Integer> byPolicy = new TreeMap<>();
        newMisfits.stream()
                .filter(name -> !before.contains(name))
                .forEach(name -> byPolicy.merge(name.policy(), 1, Integer::sum));
        newMisfits.clear();
        byPolicy.forEach((policy, count) -> log.warn(
                "{} of the overrides of keys under rate limit {} do not apply on this instance, whose configuration they do"
                        + " not fit; their list says why",
                count,
                Quotation.of(policy)));
    }

    /** As in the configuration, who is blocked or unlimited is so by both limits of a policy. */
    private void update(RulesInForce now, Name name, Map<String, LimitOverride> read) {
        String policy = name.policy();
        String rate = Rule.withoutConcurrency(policy);
        misfits.remove(name);
        LiveOverrides.Entry own = entry(now, name, read);
        put(
                now,
                policy,
                name.key(),
                own != null || rate.equals(policy) ? own : fixed(now, Name.ofKey(rate, name.key())));
        Name beside = Name.ofKey(Rule.concurrencyOf(policy), name.key());
        if (now.byPolicy().containsKey(beside.policy()) && value(beside) == null) {
            put(now, beside.policy(), name.key(), fixed(now, name));
        }
    }

    private LiveOverrides.@Nullable Entry fixed(RulesInForce now, Name name) {
        LiveOverrides.Entry entry = entry(now, name, new HashMap<>());
        return entry != null && entry.override() instanceof LimitOverride.Fixed ? entry : null;
    }

    private void put(RulesInForce now, String policy, String key, LiveOverrides.@Nullable Entry entry) {
        Rule rule = now.byPolicy().get(policy);
        if (rule == null || (entry == null && !tables.containsKey(policy))) {
            return;
        }
        try {
            LiveOverrides table = tables.computeIfAbsent(policy, name -> new LiveOverrides(clock, rule, whenEnded));
            table.put(keyOf(now, rule, key), entry);
            if (table.isEmpty()) {
                tables.remove(policy);
            }
        } catch (IllegalArgumentException e) {
            // it is not in the table either
        }
    }

    /** The override of a key under these rules; {@code null} if there is none, or it does not fit. */
    private LiveOverrides.@Nullable Entry entry(RulesInForce now, Name name, Map<String, LimitOverride> read) {
        ChangedValue value = value(name);
        if (value == null) {
            return null;
        }
        try {
            Rule rule = now.rule(name.policy());
            OverrideKey unused = keyOf(now, rule, name.key());
            LimitOverride override = read.computeIfAbsent(value.to(), rule.overrides()::read);
            long until = value.until() == ChangedValue.NEVER ? LiveOverrides.NEVER : value.until() * 1000;
            return new LiveOverrides.Entry(override, until, name.key());
        } catch (IllegalArgumentException | RateLimitConfigurationException e) {
            if (misfits.put(name, String.valueOf(e.getMessage())) == null) {
                newMisfits.add(name);
            }
            return null;
        }
    }

    /** What is known of this key, whether it applies here or not; {@code null} if that is nothing. */
    @Nullable
    ChangedValue value(Name name) {
        return known.getOrDefault(name.policy(), Map.of()).get(name.key());
    }

    /** How the policy of a rule encodes a key, which other instances are to read as it is. */
    static OverrideKey keyOf(RulesInForce now, Rule rule, String key) {
        WellFormed.check("key", key);
        return OverrideKey.ofPlain(rule.key(), now.sources(), key);
    }
}
