package dev.ratelimit.spring.rules.config;

import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.rule.LimitOverrides;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The limit of callers without a plan, as it is configured or has been changed.
 *
 * @param texts the limits; {@code null} if there are none, or only those of plans
 * @param burst the burst; {@code null} for the permits of one period
 * @param insteadOfPlan whether this replaces the plan that the configuration has for them
 */
record WrittenLimit(@Nullable List<String> texts, @Nullable Long burst, boolean insteadOfPlan) {

    static WrittenLimit of(PolicyProperties properties, RateLimitChange change) {
        PolicyProperties.Plan plan = properties.plans().get(LimitOverrides.NO_PLAN);
        String ofPlan = plan == null ? null : plan.limit();
        boolean changed = change.limit() != null || change.burst() != null;
        boolean insteadOfPlan = changed && ofPlan != null && properties.limit() == null;
        List<String> texts = insteadOfPlan && ofPlan != null ? List.of(ofPlan) : properties.limit();
        Long burst = insteadOfPlan && plan != null ? plan.burst() : properties.burst();
        return new WrittenLimit(
                change.limit() == null ? texts : List.of(change.limit()), changed(burst, change), insteadOfPlan);
    }

    /** The burst after a change, in which 0 stands for the permits of one period. */
    static @Nullable Long changed(@Nullable Long burst, RateLimitChange change) {
        Long changed = change.burst();
        return changed == null ? burst : changed == 0 ? null : changed;
    }
}
