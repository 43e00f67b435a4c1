package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitPolicies.Change;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.decision.PolicyVersion;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.decision.StaleVersionException;
import dev.ratelimit.spring.rules.decision.UnknownPolicyException;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
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
final class LiveChanges {

    private static final Logger log = LoggerFactory.getLogger(LiveChanges.class);

    /** How often another instance may be first. */
    private static final int ATTEMPTS = 20;

    private final RequestRules rules;
    private final ReentrantLock lock = new ReentrantLock();

    /** In force, but for changes that this instance cannot apply, because it is configured in another way. */
    private volatile Changes known = Changes.NONE;

    private volatile @Nullable SharedChanges shared;

    private volatile Adopted adopted = (policy, before, now) -> {};

    /** Is told that another instance has changed a policy. */
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
     */
    record Edit(
            Change change,
            boolean fromConfiguration,
            @Nullable String version) {}

    LiveChanges(RequestRules rules) {
        this.rules = rules;
    }

    void share(SharedChanges with) {
        shared = with;
    }

    /** Tells this what other instances change, from now on. */
    void tellAdopted(Adopted observer) {
        adopted = observer;
    }

    Changes changes() {
        return known;
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
     * @return what the policy was before
     * @throws RateLimitConfigurationException if the rules would not be valid
     * @throws UnknownPolicyException if there is no such policy
     * @throws StaleVersionException if the policy has another version by now
     * @throws IllegalStateException if changes cannot be shared at the moment
     */
    PolicyVersion change(String policy, Edit edit) {
        lock.lock();
        try {
            for (int i = 0; i < ATTEMPTS; i++) {
                PolicyVersion before = rules.inForce().version(policy);
                before.require(edit.version());
                RequestRules.Reread unused = rules.read(with(rules.changes(), policy, next(policy, edit)));
                Changes asked = asked(policy, edit);
                SharedChanges others = shared;
                SharedChanges.Answer answer =
                        others == null ? SharedChanges.alone(known, asked) : others.exchange(known, asked);
                if (answer.accepted()) {
                    learn(answer.all());
                    return before;
                }
                adoptAll(answer.all());
            }
            throw new IllegalStateException("other instances are changing policies at this moment; try again");
        } finally {
            lock.unlock();
        }
    }

    /**
     * The rules as they would be after a change, with what this instance knows of others. Nothing is changed.
     *
     * @throws RateLimitConfigurationException if the rules would not be valid
     * @throws UnknownPolicyException if there is no such policy
     * @throws StaleVersionException if the policy has another version by now
     */
    RulesInForce preview(String policy, Edit edit) {
        rules.inForce().version(policy).require(edit.version());
        Map<String, Change> changes = with(rules.changes(), policy, next(policy, edit));
        changes.values().removeIf(LiveChanges::isNothing);
        return rules.read(changes).rules();
    }

    /** What is in force of a policy after a change. */
    private Change next(String policy, Edit edit) {
        Change earlier = rules.changes().get(policy);
        return earlier == null || edit.fromConfiguration()
                ? edit.change()
                : edit.change().after(earlier);
    }

    private Changes asked(String policy, Edit edit) {
        Changes asked = Changes.of(policy, edit.change(), edit.fromConfiguration());
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
        lock.lock();
        try {
            boolean differ = !policies.equals(rules.policies());
            if (differ) {
                Set<String> names =
                        rules.read(policies, rules.changes()).rules().byPolicy().keySet();
                // a policy that comes only now may have been changed elsewhere
                rules.read(policies, applicable(known, policies, names))
                        .enforce()
                        .run();
            }
            return differ;
        } finally {
            lock.unlock();
        }
    }

    /** Puts the changes of other instances in force, unless they are known already. */
    void adopt(Changes others) {
        if (known.and(others).equals(known)) {
            return;
        }
        lock.lock();
        try {
            adoptAll(others);
        } finally {
            lock.unlock();
        }
    }

    private void adoptAll(Changes others) {
        Changes knownBefore = known;
        RulesInForce before = rules.inForce();
        learn(others);
        RulesInForce now = rules.inForce();
        RulesInForce configured = rules.read(Map.of()).rules();
        for (String policy : rules.allNames()) {
            PolicyVersion version = now.version(policy);
            if (!version.equals(before.version(policy))) {
                tell(policy, version, configured.version(policy));
                adopted.changed(policy, before.version(policy), version);
            }
        }
        for (String policy : known.policies()) {
            Change wanted = known.of(policy);
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
        rules.read(applicable(all, rules.policies(), rules.allNames()))
                .enforce()
                .run();
        // what is known is in force
        known = all;
    }

    /** What this instance can apply: all or, where a change is not valid here or together with others, parts of it. */
    private Map<String, Change> applicable(
            Changes changes, Map<String, PolicyProperties> configured, Set<String> names) {
        Map<String, Change> applicable = new HashMap<>();
        for (String policy : changes.policies()) {
            if (names.contains(policy)) {
                Map<String, Change> others = Map.copyOf(applicable);
                Change fitting = changes.fitting(policy, change -> isValid(configured, with(others, policy, change)));
                applicable.put(policy, fitting);
            }
        }
        applicable.values().removeIf(LiveChanges::isNothing);
        return applicable;
    }

    private static boolean isNothing(Change change) {
        return change.toString().isEmpty();
    }

    /** The same map with another change of this policy. */
    private static Map<String, Change> with(Map<String, Change> changes, String policy, Change change) {
        Map<String, Change> next = new HashMap<>(changes);
        next.put(policy, change);
        return next;
    }

    private boolean isValid(Map<String, PolicyProperties> configured, Map<String, Change> changes) {
        try {
            RequestRules.Reread unused = rules.read(configured, changes);
            return true;
        } catch (RateLimitConfigurationException e) {
            return false;
        }
    }
}
