package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Scheduler;
import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitChangedEvent;
import dev.ratelimit.spring.RateLimitChangedEvent.Cause;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.config.ExtraPolicies;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.decision.PolicyVersion;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.decision.StaleVersionException;
import dev.ratelimit.spring.rules.decision.UnknownPolicyException;
import dev.ratelimit.spring.rules.history.ChangeEnd;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.ChangeStore.Name;
import dev.ratelimit.spring.rules.history.ChangedProperty;
import dev.ratelimit.spring.rules.history.ChangedValue;
import dev.ratelimit.spring.rules.history.ConfiguredValue;
import dev.ratelimit.spring.rules.history.EndAlarm;
import dev.ratelimit.spring.rules.history.HistoryReport;
import dev.ratelimit.spring.rules.history.OperatorActions;
import dev.ratelimit.spring.rules.history.StaleChanges;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.WellFormed;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changes of policies while the application runs, of this instance or of all that share them. Requests do not wait
 * for it. Thread-safe.
 */
public final class LiveChanges implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LiveChanges.class);

    private static final RateLimitChange NOTHING = new RateLimitChange(null, null, null);

    /** Of a limit, and of all paths. */
    private static final int MAX_LIMIT = 200;

    private static final int MAX_REASON = 200;

    private final RequestRules rules;
    private final ChangeStore store;
    private final EndAlarm ends;
    private final StaleChanges stale = new StaleChanges();

    /** Of what is in force. Nobody asks or tells others under it, so that changes end in time. */
    private final ReentrantLock lock = new ReentrantLock();

    /** In force, but for changes that this instance cannot apply, because it is configured in another way. */
    private volatile Map<String, PolicyChange> known = Map.of();

    /** When the next change ends, in microseconds. Used under the lock. */
    private long nextEnd = ChangedValue.NEVER;

    /** What observers are to hear of ends: from the alarm, as they may be slow, and without a lock. In order. */
    private final Queue<Runnable> untold = new ConcurrentLinkedQueue<>();

    private final OperatorActions actions;

    /** Is told of each policy that differs. */
    @FunctionalInterface
    private interface Differences {

        void tell(String policy, PolicyVersion before, PolicyVersion now);
    }

    /**
     * What to change of a policy.
     *
     * @param change what it says
     * @param fromConfiguration whether what the change leaves out returns to the configuration
     * @param version of the policy that this is a change of; {@code null} for any
     */
    public record Edit(
            RateLimitChange change,
            boolean fromConfiguration,
            @Nullable String version) {

        /** Validates the texts, and that there is something that can end. */
        public Edit {
            WellFormed.check("limit", change.limit(), MAX_LIMIT);
            WellFormed.check("paths", change.paths() == null ? null : String.join(",", change.paths()), MAX_LIMIT);
            WellFormed.check("reason", change.reason(), MAX_REASON);
            if (isNothing(change) && (change.duration() != null || change.until() != null)) {
                throw new IllegalArgumentException("a return to the configuration does not end; leave out duration and"
                        + " until, or write what is to end, such as a limit");
            }
        }
    }

    /**
     * Nothing is changed yet.
     *
     * @param scheduler tells when changes end
     * @param actions who changes policies, and who is told
     */
    public LiveChanges(RequestRules rules, ChangeStore store, Scheduler scheduler, OperatorActions actions) {
        this.rules = rules;
        this.store = store;
        this.actions = actions;
        this.ends = new EndAlarm(scheduler, store.clock(), this::end);
        store.observe(ChangeStore.Kind.POLICY, this::adopt);
    }

    /** Whether operators have changed a policy, so that it is not as configured. */
    public boolean isChanged(String policy) {
        return rules.changes().containsKey(policy);
    }

    /** The version of a policy under these rules, which a change of it may name. */
    String version(String policy, RulesInForce in) {
        return in.version(policy).id(store.text(Name.ofPolicy(policy)));
    }

    /** The properties whose value in force is that of an operator, ordered by policy and name. */
    private List<ChangedProperty> inForce() {
        List<ChangedProperty> inForce = new ArrayList<>();
        Map<String, PolicyChange> all = known;
        long now = store.nowMicros();
        new TreeMap<>(rules.changes())
                .forEach((policy, applied) -> inForce.addAll(all.getOrDefault(policy, PolicyChange.NONE)
                        .withoutEndedAt(now)
                        .properties(policy, applied)));
        return inForce;
    }

    /** Describes the changes in force, by policy, for JSON. */
    public Map<String, List<Map<String, Object>>> report() {
        List<ChangedProperty> changed = inForce();
        return changed.isEmpty() ? Map.of() : HistoryReport.of(changed, rules.configured());
    }

    /** How long a change lasts, for people. */
    public String duration() {
        return store.isShared()
                ? "on all instances, until the last of them stops, which returns to the configuration"
                : "until this instance restarts, which returns to the configuration";
    }

    /**
     * Changes a policy, here and on all instances, or nowhere.
     *
     * @throws RateLimitConfigurationException if the rules would not be valid
     * @throws UnknownPolicyException if there is no such policy
     * @throws IllegalArgumentException if the end is not possible
     * @throws StaleVersionException if the policy has another version by now
     * @throws IllegalStateException if changes are shared, and cannot be at the moment
     */
    @CanIgnoreReturnValue
    public AcceptedChange change(String policy, Edit edit) {
        ChangeEnd end = new ChangeEnd(edit.change().duration(), edit.change().until())
                .check(
                        store.now(),
                        "to end a change, restore the policy",
                        "without an end, it lasts until the policy is restored, or the last instance stops");
        Set<String> properties = new TreeSet<>();
        AcceptedChange accepted = store.change(
                () -> asked(policy, edit, end, properties), text -> accepted(policy, edit, text, properties));
        log.warn(
                "Rate limit {} was changed by {} {}",
                Quotation.of(policy),
                actions.logged(),
                accepted.logged(duration()));
        actions.tell(policy, accepted.audited());
        publish(policy, Cause.OPERATOR, accepted.before(), accepted.now());
        actions.tellReplaced(rules.allNames());
        return accepted;
    }

    private void publish(String policy, Cause cause, PolicyVersion from, PolicyVersion to) {
        if (!from.toString().equals(to.toString())) {
            String by = cause == Cause.OPERATOR ? actions.name() : null;
            actions.publish(new RateLimitChangedEvent(policy, cause, by, from.toString(), to.toString()));
        }
    }

    /** What to ask, if it is possible here and now. */
    private ChangeStore.Change asked(String policy, Edit edit, ChangeEnd end, Set<String> properties) {
        lock.lock();
        try {
            endIfDue();
            check(policy, edit);
            PolicyVersion before = rules.including(policy).version(policy);
            PolicyVersion then = version(
                    rules.read(with(rules.changes(), policy, next(policy, edit)))
                            .rules(),
                    policy);
            PolicyChange earlier = known.getOrDefault(policy, PolicyChange.NONE);
            Map<String, Map<String, Object>> values = values(policy, edit, end);
            properties.clear();
            properties.addAll(values.keySet());
            if (edit.fromConfiguration()) {
                properties.addAll(PolicyChange.PROPERTIES);
                properties.addAll(earlier.values().keySet());
            }
            HistoryEntry entry = new HistoryEntry(
                    Instant.EPOCH,
                    then.change() == null ? HistoryEntry.Action.RESTORE : HistoryEntry.Action.CHANGE,
                    policy,
                    null,
                    before.toString(),
                    then.toString(),
                    null,
                    edit.change().reason(),
                    actions.kept());
            return ChangeStore.Change.of(
                    Name.ofPolicy(policy),
                    (edit.fromConfiguration() ? PolicyChange.NONE : earlier).text(values),
                    end,
                    entry,
                    properties);
        } finally {
            unlock();
        }
    }

    private Map<String, Map<String, Object>> values(String policy, Edit edit, ChangeEnd end) {
        RulesInForce configured = rules.configured();
        Map<String, Map<String, Object>> values = new TreeMap<>();
        PolicyChange.valuesOf(together(policy, edit)).forEach((property, to) -> {
            String before = ConfiguredValue.of(configured, policy, property);
            values.put(
                    property,
                    new ChangedValue(to, 0, 0, actions.kept(), edit.change().reason(), before).asked(end));
        });
        return values;
    }

    private AcceptedChange accepted(String policy, Edit edit, String text, Set<String> properties) {
        lock.lock();
        try {
            // something may have ended since the question
            endIfDue();
            PolicyVersion before = rules.including(policy).version(policy);
            PolicyChange change = PolicyChange.of(text);
            List<ChangedProperty> replaced = inForce().stream()
                    .filter(one -> one.policy().equals(policy) && properties.contains(one.name()))
                    .toList();
            learn(with(known, policy, change));
            Instant until = change.values().entrySet().stream()
                    .filter(entry -> properties.contains(entry.getKey()))
                    .map(entry -> entry.getValue().end())
                    .filter(Objects::nonNull)
                    .findFirst()
                    .orElse(null);
            return new AcceptedChange(
                    policy, edit, before, rules.including(policy).version(policy), until, replaced);
        } finally {
            unlock();
        }
    }

    /** Checks the version, and that a policy that is given paths waits for them. */
    private void check(String policy, Edit edit) {
        rules.including(policy).version(policy).require(edit.version(), store.text(Name.ofPolicy(policy)));
        PolicyProperties configured = rules.policies().getOrDefault(policy, ExtraPolicies.of(policy));
        if (edit.change().paths() != null && (configured == null || configured.mode() != Mode.OFF)) {
            throw new IllegalArgumentException(
                    "paths are given only to a policy with mode: off in the configuration, and"
                            + " to " + String.join(", ", ExtraPolicies.names()) + "; those of " + Quotation.of(policy)
                            + " are fixed while the application runs");
        }
        RateLimitChange next = next(policy, edit);
        if (!isNothing(next) && ExtraPolicies.lacksPaths(rules.policies(), policy, next)) {
            throw new IllegalArgumentException(Quotation.of(policy)
                    + " is in force nowhere yet; write paths as well, such as /login, or /** for all");
        }
    }

    /** Returns to the configuration where changes have ended, and tells of all that have. */
    private void end() {
        lock.lock();
        try {
            endIfDue();
            ends.set(nextEnd);
        } finally {
            lock.unlock();
        }
        for (Runnable one = untold.poll(); one != null; one = untold.poll()) {
            one.run();
        }
    }

    /** Whoever was the first to see an end leaves it to the alarm to tell of it. */
    private void unlock() {
        boolean ended = !untold.isEmpty();
        lock.unlock();
        if (ended) {
            ends.ring();
        }
    }

    private void endIfDue() {
        long now = store.nowMicros();
        if (now < nextEnd) {
            return;
        }
        RulesInForce before = rules.inForce();
        Map<String, PolicyChange> earlier = known;
        Map<String, PolicyChange> left = new HashMap<>(earlier);
        left.replaceAll((policy, change) -> change.withoutEndedAt(now));
        learn(left);
        earlier.forEach((policy, change) -> {
            long until = change.lastEnd(now);
            if (until > 0) {
                store.end(Name.ofPolicy(policy), change.withoutEndedAt(now).text(Map.of()), until);
            }
        });
        tellDifferences(before, rules.inForce(), this::ended);
    }

    private void ended(String policy, PolicyVersion before, PolicyVersion now) {
        log.warn("Rate limit {} was {}, and is {} since its change has ended", Quotation.of(policy), before, now);
        publish(policy, Cause.EXPIRY, before, now);
        untold.add(() -> {
            actions.tell(policy, Map.of("expired", "", "from", before.toString(), "to", now.toString()));
            actions.tellReplaced(rules.allNames());
        });
    }

    private void tellDifferences(RulesInForce before, RulesInForce now, Differences observer) {
        Set<String> all = new TreeSet<>(before.byPolicy().keySet());
        all.addAll(now.byPolicy().keySet());
        for (String policy : all) {
            PolicyVersion earlier = version(before, policy);
            PolicyVersion later = version(now, policy);
            if (!later.equals(earlier)) {
                observer.tell(policy, earlier, later);
            }
        }
    }

    /** What is in force of a policy; one that needs no configuration, and is not there, is as it is without changes. */
    private PolicyVersion version(RulesInForce in, String policy) {
        return (in.byPolicy().containsKey(policy) ? in : rules.configuredWith(policy)).version(policy);
    }

    /**
     * The rules as they would be after a change, with what this instance knows of others. Nothing is changed.
     *
     * @throws RateLimitConfigurationException if the rules would not be valid
     * @throws UnknownPolicyException if there is no such policy
     * @throws StaleVersionException if the policy has another version by now
     */
    public RulesInForce preview(String policy, Edit edit) {
        check(policy, edit);
        return rules.read(with(rules.changes(), policy, next(policy, edit))).rules();
    }

    /** What is in force of a policy after a change. */
    private RateLimitChange next(String policy, Edit edit) {
        RateLimitChange earlier = rules.changes().get(policy);
        return edit.change().after(earlier == null || edit.fromConfiguration() ? NOTHING : earlier);
    }

    /**
     * A change with the paths that go with its mode, or the mode that goes with its paths. These two end together: a policy
     * that is off, and is enforced only on some paths, must not be enforced on all others at the end of the former change.
     */
    private RateLimitChange together(String policy, Edit edit) {
        RateLimitChange change = edit.change();
        RateLimitChange earlier = rules.changes().getOrDefault(policy, NOTHING);
        List<String> paths = earlier.paths();
        if (edit.fromConfiguration() || (change.paths() == null) == (change.mode() == null)) {
            return change;
        }
        RateLimitChange other = new RateLimitChange(null, null, change.mode() == null ? earlier.mode() : null);
        return change.after(
                change.paths() == null && paths != null ? other.onPaths(paths.toArray(String[]::new)) : other);
    }

    /**
     * Puts other policies of the configuration in force, all or none. Changes stay.
     *
     * @return whether they differ from those before
     * @throws RateLimitConfigurationException if the rules would not be valid
     */
    boolean configure(Map<String, PolicyProperties> policies) {
        lock.lock();
        try {
            endIfDue();
            boolean differ = !policies.equals(rules.policies());
            if (differ) {
                // as at the start, also without changes, which may end
                RequestRules.Reread unused = rules.read(policies, Map.of());
                Set<String> names =
                        rules.read(policies, rules.changes()).rules().byPolicy().keySet();
                // a policy that comes only now may have been changed elsewhere
                rules.read(policies, applicable(known, policies, names))
                        .enforce()
                        .run();
                stale.warn(inForce(), rules.configured());
            }
            return differ;
        } finally {
            unlock();
        }
    }

    /** Puts the changes of other instances in force. */
    private void adopt(Map<String, String> texts) {
        Map<String, PolicyChange> all = new HashMap<>();
        texts.forEach((policy, text) -> all.put(policy, PolicyChange.of(text)));
        lock.lock();
        try {
            endIfDue();
            if (!all.equals(known)) {
                adoptUnderLock(all);
                store.afterwards(() -> actions.tellReplaced(rules.allNames()));
            }
        } finally {
            unlock();
        }
    }

    private void adoptUnderLock(Map<String, PolicyChange> all) {
        Map<String, PolicyChange> knownBefore = known;
        RulesInForce before = rules.inForce();
        learn(all);
        RulesInForce now = rules.inForce();
        RulesInForce configured = rules.configured();
        tellDifferences(before, now, (policy, earlier, later) -> {
            tell(policy, later, version(configured, policy));
            publish(policy, Cause.OTHER_INSTANCE, earlier, later);
        });
        stale.warn(inForce(), configured);
        long micros = store.nowMicros();
        new TreeMap<>(all).forEach((policy, change) -> {
            RateLimitChange wanted = change.withoutEndedAt(micros).all();
            if (!isNothing(wanted)
                    && !change.equals(knownBefore.get(policy))
                    && !wanted.equals(now.changes().get(policy))) {
                log.warn(
                        "Rate limit {} was changed by another instance: {}. Not all of it is in force here, because this"
                                + " instance is configured in another way",
                        Quotation.of(policy),
                        wanted);
            }
        });
    }

    private static void tell(String policy, PolicyVersion now, PolicyVersion configured) {
        if (now.change() == null) {
            log.warn(
                    "Rate limit {} was restored to its configuration by another instance: {}",
                    Quotation.of(policy),
                    now);
        } else {
            log.warn(
                    "Rate limit {} was changed by another instance: it is {}, and its configuration here, {}, does not"
                            + " apply until it is restored",
                    Quotation.of(policy),
                    now,
                    configured);
        }
    }

    private void learn(Map<String, PolicyChange> all) {
        rules.read(applicable(all, rules.policies(), rules.allNames()))
                .enforce()
                .run();
        // what is known is in force
        Map<String, PolicyChange> left = new HashMap<>(all);
        left.values().removeIf(change -> change.values().isEmpty());
        known = Map.copyOf(left);
        long next =
                left.values().stream().mapToLong(PolicyChange::nextEnd).min().orElse(ChangedValue.NEVER);
        if (next != nextEnd) {
            nextEnd = next;
            ends.set(next);
        }
    }

    /** What this instance can apply: all or, where a change is not valid here or together with others, parts of it. */
    private Map<String, RateLimitChange> applicable(
            Map<String, PolicyChange> changes, Map<String, PolicyProperties> configured, Set<String> names) {
        Map<String, RateLimitChange> applicable = new HashMap<>();
        long now = store.nowMicros();
        new TreeMap<>(changes).forEach((policy, change) -> {
            if (names.contains(policy) || ExtraPolicies.contain(policy)) {
                Map<String, RateLimitChange> others = Map.copyOf(applicable);
                applicable.put(
                        policy,
                        change.withoutEndedAt(now).fitting(one -> isValid(configured, with(others, policy, one))));
            }
        });
        applicable.values().removeIf(LiveChanges::isNothing);
        return applicable;
    }

    private static boolean isNothing(RateLimitChange change) {
        return change.toString().isEmpty();
    }

    /** The same map with another change of this policy. */
    private static <C> Map<String, C> with(Map<String, C> changes, String policy, C change) {
        Map<String, C> next = new HashMap<>(changes);
        next.put(policy, change);
        return next;
    }

    private boolean isValid(Map<String, PolicyProperties> configured, Map<String, RateLimitChange> changes) {
        try {
            RequestRules.Reread unused = rules.read(configured, changes);
            return true;
        } catch (RateLimitConfigurationException e) {
            return false;
        }
    }

    /** Nothing ends from now on. */
    @Override
    public void close() {
        ends.close();
    }
}
