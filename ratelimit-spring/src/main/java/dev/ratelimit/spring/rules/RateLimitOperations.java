package dev.ratelimit.spring.rules;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.WebRequest;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.IgnoreTopLevelConverterNotFoundBindHandler;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.core.env.Environment;

/** What operators and applications do with the rules in force. Thread-safe. */
public final class RateLimitOperations implements RateLimitPolicies {

    private static final Logger log = LoggerFactory.getLogger(RateLimitOperations.class);

    private final RequestRules rules;
    private final RateLimitStore store;
    private final LiveChanges live;
    private final KeyDisplay keys = new KeyDisplay();
    private final List<BiConsumer<String, Map<String, Object>>> observers = new CopyOnWriteArrayList<>();
    private volatile @Nullable Traffic traffic;
    private volatile @Nullable WaitingRequests waiting;

    /** Operates on these rules, and on the keys in this store. */
    public RateLimitOperations(RequestRules rules, RateLimitStore store) {
        this.rules = rules;
        this.store = store;
        this.live = new LiveChanges(rules);
    }

    @Override
    public Set<String> names() {
        return rules.allNames();
    }

    @Override
    public Policy policy(String name) {
        return rules.inForce().rule(name).policy();
    }

    /** The status of a refusal by this policy. */
    public int refusalStatus(String name) {
        return rules.inForce().rule(name).format().status();
    }

    @Override
    public Mode mode(String name) {
        RulesInForce now = rules.inForce();
        return now.mode(now.rule(name).policy().name());
    }

    @Override
    public Charge charge(String policy, String... key) {
        RulesInForce now = rules.inForce();
        Rule rule = now.rule(policy);
        PlainKey plain = PlainKey.of(rule, now.sources(), List.of(key));
        LimitOverride override = rule.overrides().ofKey(plain.parts(), plain.address());
        if (now.mode(policy) != Mode.ENFORCE) {
            return rule.policy().charge(plain.key(), 0);
        }
        return override instanceof LimitOverride.Limited limited
                ? limited.policy().charge(plain.key())
                : rule.policy().charge(plain.key(), override == LimitOverride.Fixed.BLOCKED ? Long.MAX_VALUE : 0);
    }

    @Override
    public List<LimitStatus> state(String policy, String... key) {
        RulesInForce now = rules.inForce();
        Rule rule = now.rule(policy);
        return state(rule, PlainKey.of(rule, now.sources(), List.of(key)));
    }

    private List<LimitStatus> state(Rule rule, PlainKey key) {
        return rule.overrides().ofKey(key.parts(), key.address()) instanceof LimitOverride.Limited limited
                ? store.peek(List.of(limited.policy().charge(key.key(), 0))).limits()
                : List.of();
    }

    @Override
    public boolean reset(String policy, String... key) {
        RulesInForce now = rules.inForce();
        Rule rule = now.rule(policy);
        PlainKey plain = PlainKey.of(rule, now.sources(), List.of(key));
        // a plan or an override may have more limits than the policy
        Policy longest = rule.overrides()
                .all()
                .filter(LimitOverride.Limited.class::isInstance)
                .map(override -> ((LimitOverride.Limited) override).policy())
                .max(Comparator.comparingInt(limited -> limited.limits().size()))
                .orElse(rule.policy());
        boolean reset = store.reset(longest, plain.key());
        String hash = keys.hash(plain.key());
        if (reset) {
            log.info("Rate limit {}: key {} was reset", Quotation.of(policy), hash);
            tell(policy, Map.of("reset", hash));
        } else {
            log.warn("Rate limit {}: the store did not answer when key {} was to be reset", Quotation.of(policy), hash);
            tell(policy, Map.of("reset", hash, "answered", false));
        }
        return reset;
    }

    @Override
    public void change(String policy, Change change) {
        live.change(policy, earlier -> earlier == null ? change : change.after(earlier));
        log.warn("Rate limit {} was changed, {}: {}", Quotation.of(policy), live.duration(), change);
        tell(policy, Map.of("change", change.toString()));
    }

    /**
     * Replaces all earlier changes of a policy by this one, in one step.
     *
     * @throws RateLimitConfigurationException if the configuration would not be valid; the earlier changes then stay
     * @throws IllegalArgumentException if there is no such policy
     * @throws IllegalStateException if changes are shared, and cannot be at the moment
     */
    public void replace(String policy, Change change) {
        live.change(policy, earlier -> change);
        log.warn(
                "Rate limit {} was changed from its configuration, {}: {}",
                Quotation.of(policy),
                live.duration(),
                change);
        tell(policy, Map.of("change", "as configured, " + change));
    }

    @Override
    public void restore(String policy) {
        live.change(policy, earlier -> null);
        log.warn("Rate limit {} is as configured again", Quotation.of(policy));
        tell(policy, Map.of("change", "as configured"));
    }

    /**
     * Reads the policies of the configuration again, and puts them in force if they have changed: all or, with a
     * mistake, none. A mistake is logged as at the start.
     */
    public boolean refresh(Environment environment) {
        try {
            WrittenProperties.check(environment);
            RateLimitProperties next = Binder.get(environment)
                    .bindOrCreate(
                            "ratelimit",
                            Bindable.of(RateLimitProperties.class),
                            new NoUnboundElementsBindHandler(new IgnoreTopLevelConverterNotFoundBindHandler()));
            boolean changed = live.configure(next.policies());
            if (changed) {
                log.warn("Rate limits have the policies of the changed configuration: {}", names());
            }
            return changed;
        } catch (RateLimitConfigurationException | BindException e) {
            log.error(
                    "The changed configuration of rate limits is not applied, and all policies stay as they are.\n\n{}",
                    MistakeReport.textOf(e, environment));
            return false;
        }
    }

    /** From now on, shares changes with other instances. */
    public void share(SharedChanges with) {
        live.share(with);
    }

    /** The changes that this instance knows. */
    public Changes changes() {
        return live.changes();
    }

    /** Puts the changes of other instances in force, unless they are older than those that this instance knows. */
    public void adopt(Changes others) {
        Changes before = live.changes();
        live.adopt(others);
        WaitingRequests requests = waiting;
        if (requests != null && !before.equals(live.changes())) {
            requests.policies().forEach(requests::wake);
        }
    }

    /** How long a change lasts, for people. */
    public String changesLast() {
        return live.duration();
    }

    /** Calls this with the policy and what was done, after each change and each reset. */
    public void observe(BiConsumer<String, Map<String, Object>> observer) {
        observers.add(observer);
    }

    /** Shows how many requests wait, and lets them ask again after each change. */
    public void watch(WaitingRequests requests) {
        waiting = requests;
        observe((policy, what) -> requests.wake(policy));
    }

    private void tell(String policy, Map<String, Object> what) {
        observers.forEach(observer -> observer.accept(policy, what));
    }

    /**
     * Starts to record what becomes of requests, for {@link #report}.
     *
     * @param scheduler ends the minutes
     * @return what all requests are to be counted by; if it is {@link AutoCloseable}, to be closed in the end
     */
    public OutcomeCounter record(Scheduler scheduler) {
        Traffic recorded = new Traffic(scheduler);
        traffic = recorded;
        return recorded;
    }

    /**
     * Describes all policies, for JSON.
     *
     * @param showKeys whether to show keys as their plain values, not as hashes
     */
    public List<Map<String, Object>> report(boolean showKeys) {
        RulesInForce now = rules.inForce();
        PolicyReport report = new PolicyReport(now, traffic, waiting, keys, showKeys);
        return new TreeMap<>(now.byPolicy())
                .values().stream()
                        .map(rule -> report.policy(
                                rule, rules.changes().get(rule.policy().name())))
                        .toList();
    }

    /**
     * Describes a policy and, unless {@code key} is {@code null}, the state of a key, for JSON.
     *
     * @param key the plain values of its parts
     * @param showKeys whether to show keys as their plain values, not as hashes
     * @throws IllegalArgumentException if there is no such policy, or its key has other parts
     */
    public Map<String, Object> report(String policy, @Nullable List<String> key, boolean showKeys) {
        RulesInForce now = rules.inForce();
        Rule rule = now.rule(policy);
        if (key == null) {
            return new PolicyReport(now, traffic, waiting, keys, showKeys)
                    .policy(rule, rules.changes().get(policy));
        }
        PlainKey plain = PlainKey.of(rule, now.sources(), key);
        LimitOverride override = rule.overrides().ofKey(plain.parts(), plain.address());
        Map<String, Object> state = new LinkedHashMap<>();
        state.put("policy", policy);
        state.put("mode", PolicyReport.name(now.mode(policy)));
        if (!plain.key().isEmpty()) {
            state.put("key", keys.show(rule, plain.key(), showKeys));
        }
        if (override instanceof LimitOverride.Fixed fixed) {
            state.put("override", PolicyReport.name(fixed));
        }
        state.put(
                "limits", state(rule, plain).stream().map(PolicyReport::status).toList());
        return state;
    }

    /**
     * Describes what would become of a request, for JSON. Takes nothing.
     *
     * @param before the request before Spring Security; {@code null} if all rules apply at once
     * @param after the request after Spring Security
     * @param showKeys whether to show keys as their plain values, not as hashes
     */
    public Map<String, Object> explain(@Nullable WebRequest before, WebRequest after, boolean showKeys) {
        return new Explanation(rules.inForce(), store).of(before, after, keys, showKeys);
    }
}
