package dev.ratelimit.spring.rules;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitPolicies.Change;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changes of policies while the application runs, of this instance or of all that share them. Requests do not wait
 * for it. Thread-safe.
 */
final class LiveChanges {

    private static final Logger log = LoggerFactory.getLogger(LiveChanges.class);

    /** How often another instance may be first. */
    private static final int ATTEMPTS = 20;

    private final RequestRules rules;
    private final ReentrantLock lock = new ReentrantLock();

    /** Includes changes that this instance cannot apply, because it is configured in another way. */
    private volatile Changes known = Changes.NONE;

    private volatile @Nullable SharedChanges shared;

    LiveChanges(RequestRules rules) {
        this.rules = rules;
    }

    void share(SharedChanges with) {
        shared = with;
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
     * @param change returns what replaces the earlier changes of the policy; {@code null} for the configuration
     * @throws RateLimitConfigurationException if the rules would not be valid
     * @throws IllegalArgumentException if there is no such policy
     * @throws IllegalStateException if changes cannot be shared at the moment
     */
    void change(String policy, UnaryOperator<@Nullable Change> change) {
        lock.lock();
        try {
            for (int i = 0; i < ATTEMPTS; i++) {
                Rule unused = rules.inForce().rule(policy);
                Change next = change.apply(known.byPolicy().get(policy));
                Runnable inForce = rules.read(Changes.with(rules.changes(), policy, next));
                Changes all = known.with(policy, next);
                SharedChanges others = shared;
                Changes now = others == null ? all : others.replace(all);
                if (now.equals(all)) {
                    inForce.run();
                    known = all;
                    return;
                }
                adoptNewer(now);
            }
            throw new IllegalStateException("other instances are changing policies at this moment; try again");
        } finally {
            lock.unlock();
        }
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
                rules.read(policies, rules.changes()).run();
            }
            return differ;
        } finally {
            lock.unlock();
        }
    }

    /** Puts the changes of other instances in force, unless they are older. */
    void adopt(Changes others) {
        if (others.equals(known)) {
            return;
        }
        lock.lock();
        try {
            if (others.version() >= known.version()) {
                adoptNewer(others);
            }
        } finally {
            lock.unlock();
        }
    }

    private void adoptNewer(Changes others) {
        Map<String, Change> before = rules.changes();
        apply(others);
        known = others;
        Map<String, Change> after = rules.changes();
        TreeSet<String> names = new TreeSet<>(before.keySet());
        names.addAll(after.keySet());
        for (String policy : names) {
            Change now = after.get(policy);
            if (now == null) {
                log.warn("Rate limit {} is as configured again, by another instance", Quotation.of(policy));
            } else if (!now.equals(before.get(policy))) {
                log.warn("Rate limit {} was changed by another instance: {}", Quotation.of(policy), now);
            }
        }
    }

    /** All at once or, if this instance cannot apply some of them, all others. */
    private void apply(Changes others) {
        Map<String, Change> applicable = new HashMap<>();
        Runnable inForce = rules.read(applicable);
        for (Map.Entry<String, Change> change : new TreeMap<>(others.byPolicy()).entrySet()) {
            String policy = change.getKey();
            try {
                Rule unused = rules.inForce().rule(policy);
                inForce = rules.read(Changes.with(applicable, policy, change.getValue()));
                applicable.put(policy, change.getValue());
            } catch (IllegalArgumentException | RateLimitConfigurationException e) {
                log.warn(
                        "Rate limit {} was changed by another instance, and stays as configured here: {}",
                        Quotation.of(policy),
                        Objects.toString(e.getMessage()));
            }
        }
        inForce.run();
    }
}
