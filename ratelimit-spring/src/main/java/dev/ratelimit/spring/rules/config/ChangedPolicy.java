package dev.ratelimit.spring.rules.config;

import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.rule.LimitOverrides;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What the configuration of a policy would have to be to say the same as a change of it. */
public final class ChangedPolicy {

    private ChangedPolicy() {}

    /**
     * The configuration of a policy with a change in place of its properties.
     *
     * @param own the change of the policy
     * @param concurrency the change of the concurrency limit beside its rate; its mode has no property
     */
    public static PolicyProperties of(PolicyProperties configured, RateLimitChange own, RateLimitChange concurrency) {
        PolicyProperties policy = configured.with(own);
        WrittenLimit written = WrittenLimit.of(policy, own);
        boolean alone = ConcurrencyParser.isAlone(policy) && !written.insteadOfPlan();
        String number = alone ? own.limit() : concurrency.limit();
        return new PolicyProperties(
                alone || written.insteadOfPlan() ? policy.limit() : written.texts(),
                policy.algorithm(),
                number == null ? policy.concurrency() : numberOf(number),
                policy.maxHold(),
                written.insteadOfPlan() ? policy.burst() : written.burst(),
                policy.refill(),
                policy.align(),
                policy.zone(),
                policy.rounding(),
                policy.penalty(),
                policy.key(),
                policy.missingKey(),
                match(policy.match(), own.paths()),
                policy.permits(),
                RuleContext.modeAfter(own, policy.mode()),
                policy.onExceeded(),
                policy.response(),
                policy.count(),
                policy.free(),
                written.insteadOfPlan() ? withDefault(policy.plans(), written) : policy.plans(),
                policy.planResolver(),
                policy.overrides(),
                policy.retryJitter(),
                policy.stage(),
                policy.onStoreFailure(),
                policy.maxKeys());
    }

    private static PolicyProperties.Match match(PolicyProperties.Match match, @Nullable List<String> paths) {
        return paths == null
                ? match
                : new PolicyProperties.Match(
                        paths, match.exceptPaths(), match.methods(), match.when(), match.annotated());
    }

    private static @Nullable Long numberOf(String written) {
        return Long.valueOf(written.strip());
    }

    private static Map<String, PolicyProperties.Plan> withDefault(
            Map<String, PolicyProperties.Plan> plans, WrittenLimit written) {
        Map<String, PolicyProperties.Plan> changed = new LinkedHashMap<>(plans);
        changed.computeIfPresent(
                LimitOverrides.NO_PLAN,
                (name, plan) -> new PolicyProperties.Plan(
                        String.join("; ", Objects.requireNonNullElse(written.texts(), List.of())),
                        written.burst(),
                        plan.zone()));
        return changed;
    }
}
