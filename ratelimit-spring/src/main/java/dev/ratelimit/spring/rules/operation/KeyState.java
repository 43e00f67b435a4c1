package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.override.OverrideReport;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.PlainKey;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the next request with a key would be told under a policy. Nothing is taken for that. */
record KeyState(RulesInForce rules, RateLimitStore store) {

    /** The status of each limit; empty if the key is unlimited or blocked. */
    List<LimitStatus> limits(Rule rule, PlainKey key) {
        return limits(rule, rules.override(rule, key), key);
    }

    private List<LimitStatus> limits(Rule rule, LimitOverride override, PlainKey key) {
        return override instanceof LimitOverride.Limited limited
                ? store.peek(List.of(
                                limited.policy().charge(key.key(), rule.cost().typical())))
                        .limits()
                : List.of();
    }

    /**
     * Describes the state, for JSON: whether a request would be admitted, if not, when, and what is left. If the owner of
     * the key may have a plan, which only a request tells, then that for each plan.
     */
    Map<String, Object> of(Rule rule, PlainKey key) {
        Map<String, LimitOverride> byPlan = rules.overrideByPlan(rule, key);
        if (byPlan.isEmpty()) {
            return of(rule, rules.override(rule, key), key);
        }
        List<Map<String, Object>> plans = new ArrayList<>();
        byPlan.forEach((name, override) -> {
            Map<String, Object> plan = new LinkedHashMap<>();
            plan.put("plan", name);
            plan.putAll(of(rule, override, key));
            plans.add(plan);
        });
        return Map.of("plans", plans);
    }

    /**
     * Describes a policy and the state of a key, for JSON.
     *
     * @param parts the plain values of the key's parts
     * @throws IllegalArgumentException if there is no such policy, or its key has other parts
     */
    Map<String, Object> of(
            String policy, List<String> parts, KeyDisplay keys, OverrideReport overrides, boolean plain) {
        Rule rule = rules.rule(policy);
        PlainKey key = PlainKey.of(rule, rules.sources(), parts);
        Map<String, Object> state = new LinkedHashMap<>();
        state.put("policy", policy);
        state.put("mode", PropertyName.of(rules.mode(policy)));
        if (!key.key().isEmpty()) {
            state.put("key", keys.show(rule, key.key(), plain));
        }
        state.putAll(of(rule, key));
        overrides.addMet(state, rule, rules.liveOverride(rule, key), plain);
        return state;
    }

    private Map<String, Object> of(Rule rule, LimitOverride override, PlainKey key) {
        Map<String, Object> state = new LinkedHashMap<>();
        if (override instanceof LimitOverride.Fixed fixed) {
            state.put("override", PropertyName.of(fixed));
            state.put("admitted", !isEnforced(rule) || fixed != LimitOverride.Fixed.BLOCKED);
            state.put("limits", List.of());
            return state;
        }
        List<LimitStatus> limits = new ArrayList<>(limits(rule, override, key));
        List<LimitStatus> refusing = new ArrayList<>(isEnforced(rule) ? limits : List.of());
        Rule beside = rules.byPolicy().get(Rule.concurrencyOf(rule.policy().name()));
        if (beside != null) {
            List<LimitStatus> concurrency = limits(beside, key);
            limits.addAll(concurrency);
            refusing.addAll(isEnforced(beside) ? concurrency : List.of());
        }
        refusing.removeIf(LimitStatus::admitted);
        state.put("permits", rule.cost().typical());
        state.put("admitted", refusing.isEmpty());
        if (!refusing.isEmpty() && refusing.stream().allMatch(limit -> limit.retryAfter() != null)) {
            state.put("retryAfter", PolicyReport.seconds(longestWait(refusing)));
        }
        state.put("limits", limits.stream().map(PolicyReport::status).toList());
        return state;
    }

    private boolean isEnforced(Rule rule) {
        return rules.mode(rule.policy().name()) == Mode.ENFORCE;
    }

    private static Duration longestWait(List<LimitStatus> limits) {
        return Duration.ofNanos(
                limits.stream().mapToLong(LimitStatus::retryAfterNanos).max().orElse(0));
    }
}
