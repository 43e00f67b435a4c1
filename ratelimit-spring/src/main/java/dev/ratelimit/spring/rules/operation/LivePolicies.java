package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RateLimitTrial;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.history.ChangeHistory;
import dev.ratelimit.spring.rules.override.KeyOverrides;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What applications do with policies. Thread-safe. */
public record LivePolicies(
        KeyBudgets budgets, LiveChanges changes, KeyOverrides overrides, TrialJournal trials, ChangeHistory history)
        implements RateLimitPolicies {

    @Override
    public Set<String> names() {
        return budgets.rules().allNames();
    }

    @Override
    public Policy policy(String name) {
        return budgets.rules().inForce().rule(name).policy();
    }

    @Override
    public Mode mode(String name) {
        RulesInForce now = budgets.rules().inForce();
        return now.mode(now.rule(name).policy().name());
    }

    @Override
    public Charge charge(String policy, String... key) {
        return budgets.charge(policy, List.of(key));
    }

    @Override
    public List<LimitStatus> state(String policy, String... key) {
        return budgets.state(policy, List.of(key));
    }

    @Override
    public boolean reset(String policy, String... key) {
        return budgets.reset(policy, List.of(key));
    }

    @Override
    public void change(String policy, RateLimitChange change) {
        changes.change(policy, new LiveChanges.Edit(change, false, null));
    }

    @Override
    public void restore(String policy) {
        changes.change(policy, new LiveChanges.Edit(new RateLimitChange(null, null, null), true, null));
    }

    @Override
    public void override(String policy, String key, KeyOverride override) {
        overrides.set(policy, key, override, null);
    }

    @Override
    public boolean removeOverride(String policy, String key) {
        return overrides.remove(policy, key, null) != null;
    }

    @Override
    public List<OverriddenKey> overrides(String policy) {
        return overrides.of(policy);
    }

    @Override
    public void startTrial(String policy, RateLimitTrial trial) {
        Map<String, Object> unused = trials.start(policy, trial, false);
    }

    @Override
    public RateLimitTrial.@Nullable Result trial(String policy) {
        return trials.result(policy);
    }

    @Override
    public boolean endTrial(String policy) {
        return trials.endAny(policy) != null;
    }

    @Override
    public List<HistoryEntry> history(int limit) {
        return history.entries(null, limit);
    }

    @Override
    public List<HistoryEntry> history(String policy, int limit) {
        return history.entries(policy, limit);
    }
}
