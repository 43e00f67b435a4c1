package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.decision.UnknownPolicyException;
import dev.ratelimit.spring.rules.history.OperatorActions;
import dev.ratelimit.spring.rules.override.OverrideReport;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.LiveOverrides;
import dev.ratelimit.spring.rules.rule.PlainKey;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The budgets of keys that are written as plain values. All methods throw an {@link UnknownPolicyException} if there is no
 * such policy, and an {@link IllegalArgumentException} if its key has other parts. Thread-safe.
 */
public record KeyBudgets(
        RequestRules rules, RateLimitStore store, KeyDisplay keys, OverrideReport overrides, OperatorActions actions) {

    private static final Logger log = LoggerFactory.getLogger(KeyBudgets.class);

    /** One permit of a key's budget, at its present limits. */
    Charge charge(String policy, List<String> key) {
        RulesInForce now = rules.inForce();
        Rule rule = now.rule(policy);
        PlainKey plain = PlainKey.of(rule, now.sources(), key);
        LimitOverride override = now.override(rule, plain);
        if (now.mode(policy) != Mode.ENFORCE) {
            return rule.policy().charge(plain.key(), 0);
        }
        return override instanceof LimitOverride.Limited limited
                ? limited.policy().charge(plain.key())
                : rule.policy().charge(plain.key(), override == LimitOverride.Fixed.BLOCKED ? Long.MAX_VALUE : 0);
    }

    /** The status of each limit; empty for keys that are unlimited or blocked. */
    List<LimitStatus> state(String policy, List<String> key) {
        RulesInForce now = rules.inForce();
        Rule rule = now.rule(policy);
        return new KeyState(now, store).limits(rule, PlainKey.of(rule, now.sources(), key));
    }

    /**
     * Describes the state of a key, for JSON.
     *
     * @param plain whether to show the key as its plain values, not as a hash
     * @throws dev.ratelimit.StoreUnavailableException if the store does not answer, and the policy fails closed
     */
    public Map<String, Object> report(String policy, List<String> key, boolean plain) {
        return new KeyState(rules.inForce(), store).of(policy, key, keys, overrides, plain);
    }

    /**
     * Resets a key to a full budget.
     *
     * @return whether it is certain that the key was reset
     */
    @CanIgnoreReturnValue
    public boolean reset(String policy, List<String> key) {
        RulesInForce now = rules.inForce();
        Rule rule = now.rule(policy);
        PlainKey plain = PlainKey.of(rule, now.sources(), key);
        // a plan or an override may have more limits than the policy
        LiveOverrides own = now.overrides().get(policy);
        Policy longest = Stream.concat(rule.overrides().all(), own == null ? Stream.empty() : own.all())
                .filter(LimitOverride.Limited.class::isInstance)
                .map(override -> ((LimitOverride.Limited) override).policy())
                .max(Comparator.comparingInt(limited -> limited.limits().size()))
                .orElse(rule.policy());
        boolean certain = store.reset(longest, plain.key());
        String hash = keys.hash(plain.key());
        if (certain) {
            log.info("Rate limit {}: key {} was reset by {}", Quotation.of(policy), hash, actions.logged());
            actions.tell(policy, Map.of("reset", hash));
        } else {
            log.warn(
                    "Rate limit {}: the store did not answer when key {} was to be reset by {}",
                    Quotation.of(policy),
                    hash,
                    actions.logged());
            actions.tell(policy, Map.of("reset", hash, "answered", false));
        }
        return certain;
    }
}
