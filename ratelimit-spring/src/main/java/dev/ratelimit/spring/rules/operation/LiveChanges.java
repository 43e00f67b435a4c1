package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.config.ExtraPolicies;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.decision.PolicyVersion;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.decision.StaleVersionException;
import dev.ratelimit.spring.rules.decision.UnknownPolicyException;
import dev.ratelimit.spring.rules.history.ChangeEnd;
import dev.ratelimit.spring.rules.history.ChangeNote;
import dev.ratelimit.spring.rules.history.ChangedProperty;
import dev.ratelimit.spring.rules.history.ConfiguredValue;
import dev.ratelimit.spring.rules.history.EndAlarm;
import dev.ratelimit.spring.rules.history.StaleChanges;
import dev.ratelimit.spring.rules.history.Turns;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.WellFormed;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changes of policies while the application runs, of this instance or of all that share them. Requests do not wait
 * for it. Thread-safe.
 *
 * <p>Whatever this instance has once known stays in force until a later change of the same property, whatever others ask
 * and whatever they share: {@link Changes} says why all instances come to agree.
 */
final class LiveChanges implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LiveChanges.class);

    private static final RateLimitChange NOTHING = new RateLimitChange(null, null, null);

    /** How often another instance may be first. */
    private static final int ATTEMPTS = 20;

    /** Of a limit, and of all paths. */
    private static final int MAX_LIMIT = 200;

    private static final int MAX_REASON = 200;

    private final RequestRules rules;
    private final Ticker ticker;
    private final EndAlarm ends;
    private final StaleChanges stale = new StaleChanges();

    /** Of all that changes what is known, so that this does not change while others are asked. Taken before the lock. */
    private final Turns turns;

    /** Of what is in force. Nobody asks others under it, so that changes end in time. */
    private final ReentrantLock lock = new ReentrantLock();

    /** In force, but for changes that this instance cannot apply, because it is configured in another way. */
    private volatile Changes known = Changes.NONE;

    private volatile @Nullable SharedChanges shared;

    /** When the next change in force ends, in microseconds. Used under the lock. */
    private long nextEnd = ChangeNote.NEVER;

    private volatile Adopted adopted = (policy, before, now) -> {};
    private volatile Adopted ended = (policy, before, now) -> {};

    /** Is told that a policy was changed otherwise than by {@link #change}. */
    @FunctionalInterface
    interface Adopted {

        void changed(String policy, PolicyVersion before, PolicyVersion now);
    }

    /**
     * What to change of a policy.
     *
     * @param change what it says
     * @param fromConfiguration whether what the change leaves out returns to the configuration
     * @param version of the policy that this is a change of; {@code null} for any
     * @param by who asks
     */
    record Edit(
            RateLimitChange change,
            boolean fromConfiguration,
            @Nullable String version,
            String by) {

        /** Validates the texts, and that there is something that can end. */
        Edit {
            check("limit", change.limit(), MAX_LIMIT);
            check("paths", change.paths() == null ? null : String.join(",", change.paths()), MAX_LIMIT);
            check("reason", change.reason(), MAX_REASON);
            if (isNothing(change) && (change.duration() != null || change.until() != null)) {
                throw new IllegalArgumentException("a return to the configuration does not end; leave out duration and"
                        + " until, or write what is to end, such as a limit");
            }
        }
    }

    LiveChanges(RequestRules rules, Ticker ticker, Scheduler scheduler) {
        this.rules = rules;
        this.ticker = ticker;
        this.turns = new Turns(ticker);
        this.ends = new EndAlarm(scheduler, ticker, this::end);
    }

    void share(SharedChanges with) {
        shared = with;
    }

    /** Tells this what other instances change, from now on. */
    void tellAdopted(Adopted observer) {
        adopted = observer;
    }

    /** Tells this what has ended, from now on. */
    void tellEnded(Adopted observer) {
        ended = observer;
    }

    Changes changes() {
        return known;
    }

    /** The properties whose value in force is that of an operator, ordered by policy and name. */
    List<ChangedProperty> inForce() {
        Map<String, RateLimitChange> applied = rules.changes();
        return known.inForceAt(micros()).properties().stream()
                .filter(property -> Changes.isIn(applied.get(property.policy()), property.name()))
                .toList();
    }

    /** The rules as they are configured, without changes. */
    RulesInForce configured() {
        return rules.read(Map.of()).rules();
    }

    private long micros() {
        return Math.floorDiv(ticker.epochNanos(), 1000);
    }

    /** How long a change lasts, for people. */
    String duration() {
        return shared == null
                ? "until this instance restarts, which returns to the configuration"
                : "on all instances, until the last of them stops, which returns to the configuration";
    }

    /**
     * Changes a policy, here and on all instances, or nowhere.
     *
     * @throws RateLimitConfigurationException if the rules would not be valid
     * @throws UnknownPolicyException if there is no such policy
     * @throws IllegalArgumentException if the end is not possible
     * @throws StaleVersionException if the policy has another version by now
     * @throws IllegalStateException if changes cannot be shared at the moment
     */
    AcceptedChange change(String policy, Edit edit) {
        long deadline = turns.take();
        try {
            long until = new ChangeEnd(
                            Instant.EPOCH.plusNanos(ticker.epochNanos()),
                            "to end a change, restore the policy",
                            "without an end, it lasts until the policy is restored, or the last instance stops")
                    .micros(edit.change().duration(), edit.change().until());
            for (int i = 0; i < ATTEMPTS; i++) {
                turns.checkInTime(deadline);
                Changes asked = checked(policy, edit, until);
                SharedChanges others = shared;
                SharedChanges.Answer answer = others == null ? alone(asked) : others.exchange(known, asked);
                if (answer.accepted()) {
                    return accepted(policy, answer.all(), until, asked.names());
                }
                adoptAll(answer.all());
            }
            throw new IllegalStateException("other instances are changing policies at this moment; try again");
        } finally {
            turns.pass();
        }
    }

    /** What to ask, if it is possible here and now. */
    private Changes checked(String policy, Edit edit, long until) {
        lock.lock();
        try {
            endIfDue();
            check(policy, edit);
            RequestRules.Reread unused = rules.read(with(rules.changes(), policy, next(policy, edit)));
            return noted(policy, edit, until);
        } finally {
            lock.unlock();
        }
    }

    private AcceptedChange accepted(String policy, Changes all, long until, Set<String> properties) {
        lock.lock();
        try {
            // something may have ended since the question
            endIfDue();
            PolicyVersion before = rules.including(policy).version(policy);
            learn(all);
            return new AcceptedChange(before, known.latest(), until, properties);
        } finally {
            lock.unlock();
        }
    }

    /** Checks the version, and that a policy that is given paths waits for them. */
    private void check(String policy, Edit edit) {
        rules.including(policy).version(policy).require(edit.version());
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

    private static void check(String name, @Nullable String text, int max) {
        if (text != null && text.length() > max) {
            throw new IllegalArgumentException(
                    name + " must have at most " + max + " characters but has " + text.length());
        }
        WellFormed.check(name, text);
    }

    private Changes noted(String policy, Edit edit, long until) {
        RulesInForce configured = configured();
        String reason = Objects.requireNonNullElse(edit.change().reason(), "");
        return asked(policy, edit)
                .with(property ->
                        new ChangeNote(until, edit.by(), reason, ConfiguredValue.of(configured, policy, property)));
    }

    private SharedChanges.Answer alone(Changes asked) {
        return new SharedChanges.Answer(known.and(asked.at(Math.max(micros(), known.latest() + 1))), true);
    }

    /** Returns to the configuration where changes have ended. */
    private void end() {
        lock.lock();
        try {
            endIfDue();
            ends.set(nextEnd);
        } finally {
            lock.unlock();
        }
    }

    private void endIfDue() {
        if (micros() < nextEnd) {
            return;
        }
        RulesInForce before = rules.inForce();
        learn(Changes.NONE);
        tellDifferences(before, rules.inForce(), ended);
    }

    private void tellDifferences(RulesInForce before, RulesInForce now, Adopted observer) {
        Set<String> all = new TreeSet<>(before.byPolicy().keySet());
        all.addAll(now.byPolicy().keySet());
        for (String policy : all) {
            PolicyVersion earlier = version(before, policy);
            PolicyVersion later = version(now, policy);
            if (!later.equals(earlier)) {
                observer.changed(policy, earlier, later);
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
    RulesInForce preview(String policy, Edit edit) {
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

    private Changes asked(String policy, Edit edit) {
        Changes asked = Changes.of(policy, together(policy, edit), edit.fromConfiguration());
        if (!edit.fromConfiguration()) {
            return asked;
        }
        Map<Changes.Property, Changes.Value> both =
                new HashMap<>(known.restoring(policy).values());
        both.putAll(asked.values());
        return new Changes(both);
    }

    /**
     * Puts other policies of the configuration in force, all or none. Changes stay.
     *
     * @return whether they differ from those before
     * @throws RateLimitConfigurationException if the rules would not be valid
     */
    boolean configure(Map<String, PolicyProperties> policies) {
        turns.await();
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
                rules.read(policies, applicable(known.inForceAt(micros()), policies, names))
                        .enforce()
                        .run();
                stale.warn(inForce(), configured());
            }
            return differ;
        } finally {
            lock.unlock();
            turns.pass();
        }
    }

    /** Puts the changes of other instances in force, unless they are known already. */
    void adopt(Changes others) {
        if (known.and(others).equals(known)) {
            return;
        }
        turns.await();
        try {
            adoptAll(others);
        } finally {
            turns.pass();
        }
    }

    private void adoptAll(Changes others) {
        lock.lock();
        try {
            endIfDue();
            adoptUnderLock(others);
        } finally {
            lock.unlock();
        }
    }

    private void adoptUnderLock(Changes others) {
        Changes knownBefore = known;
        RulesInForce before = rules.inForce();
        learn(others);
        RulesInForce now = rules.inForce();
        RulesInForce configured = configured();
        tellDifferences(before, now, (policy, earlier, later) -> {
            tell(policy, later, version(configured, policy));
            adopted.changed(policy, earlier, later);
        });
        stale.warn(inForce(), configured);
        Changes applicable = known.inForceAt(micros());
        for (String policy : applicable.policies()) {
            RateLimitChange wanted = applicable.of(policy);
            if (!wanted.equals(knownBefore.of(policy))
                    && !wanted.equals(now.changes().get(policy))) {
                log.warn(
                        "Rate limit {} was changed by another instance: {}. Not all of it is in force here, because this"
                                + " instance is configured in another way",
                        Quotation.of(policy),
                        wanted);
            }
        }
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

    private void learn(Changes others) {
        Changes all = known.and(others);
        long now = micros();
        rules.read(applicable(all.inForceAt(now), rules.policies(), rules.allNames()))
                .enforce()
                .run();
        // what is known is in force
        known = all;
        long next = all.nextEnd(now);
        if (next != nextEnd) {
            nextEnd = next;
            ends.set(next);
        }
    }

    /** What this instance can apply: all or, where a change is not valid here or together with others, parts of it. */
    private Map<String, RateLimitChange> applicable(
            Changes changes, Map<String, PolicyProperties> configured, Set<String> names) {
        Map<String, RateLimitChange> applicable = new HashMap<>();
        for (String policy : changes.policies()) {
            if (names.contains(policy) || ExtraPolicies.contain(policy)) {
                Map<String, RateLimitChange> others = Map.copyOf(applicable);
                RateLimitChange fitting =
                        changes.fitting(policy, change -> isValid(configured, with(others, policy, change)));
                applicable.put(policy, fitting);
            }
        }
        applicable.values().removeIf(LiveChanges::isNothing);
        return applicable;
    }

    private static boolean isNothing(RateLimitChange change) {
        return change.toString().isEmpty();
    }

    /** The same map with another change of this policy. */
    private static Map<String, RateLimitChange> with(
            Map<String, RateLimitChange> changes, String policy, RateLimitChange change) {
        Map<String, RateLimitChange> next = new HashMap<>(changes);
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
