package dev.ratelimit.spring.rules;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitPolicies;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What operators and applications do with the rules in force. Thread-safe. */
public final class RateLimitOperations implements RateLimitPolicies {

    private static final Logger log = LoggerFactory.getLogger(RateLimitOperations.class);

    private final RequestRules rules;
    private final RateLimitStore store;

    /** Operates on these rules, and on the keys in this store. */
    public RateLimitOperations(RequestRules rules, RateLimitStore store) {
        this.rules = rules;
        this.store = store;
    }

    @Override
    public Set<String> names() {
        return rules.allNames();
    }

    @Override
    public Policy policy(String name) {
        return rules.inForce().rule(name).policy();
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
        PlainKey plain = PlainKey.of(rule, now.sources(), List.of(key));
        LimitOverride override = rule.overrides().ofKey(plain.parts(), plain.address());
        return override instanceof LimitOverride.Limited limited
                ? store.peek(List.of(limited.policy().charge(plain.key(), 0))).limits()
                : List.of();
    }

    @Override
    public void reset(String policy, String... key) {
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
        store.reset(longest, plain.key());
        log.info("Rate limit {}: a key was reset", Quotation.of(policy));
    }

    @Override
    public void change(String policy, Change change) {
        synchronized (rules) {
            Change earlier = rules.changeOf(policy);
            apply(policy, earlier == null ? change : change.after(earlier));
        }
        log.warn("Rate limit {} was changed, until a restart: {}", Quotation.of(policy), change);
    }

    @Override
    public void restore(String policy) {
        apply(policy, null);
        log.warn("Rate limit {} is as configured again", Quotation.of(policy));
    }

    private void apply(String policy, @Nullable Change change) {
        Rule unused = rules.inForce().rule(policy);
        rules.change(policy, change);
    }
}
