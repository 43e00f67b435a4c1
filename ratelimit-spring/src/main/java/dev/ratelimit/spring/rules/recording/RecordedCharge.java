package dev.ratelimit.spring.rules.recording;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.spring.rules.decision.AppliedRules;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import dev.ratelimit.spring.rules.decision.StageCharges;
import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a request asked one policy for, whether it was charged or refused. Nothing here belongs to a rule: one that has been
 * changed since would stay in memory, with all its overrides.
 *
 * @param kinds of the parts of the policy's keys
 * @param key whose budget it is; {@code null} if the request lacks a part of it
 * @param permits that it costs
 * @param plan whose limits the key has; {@code null} if they are those of the policy, or its own
 * @param override the limits of the key alone; {@code null} if there are none
 */
record RecordedCharge(
        String policy,
        List<KeyKind> kinds,
        @Nullable String key,
        long permits,
        @Nullable String plan,
        @Nullable String override) {

    /** What a request asked all policies for that it has met, except those that it is exempt from. */
    static List<RecordedCharge> of(ChargedRequest request) {
        List<RecordedCharge> all = new ArrayList<>();
        for (StageCharges stage : request.stages()) {
            for (AppliedRules.Charged charged : stage.rules().charged()) {
                all.add(of(charged));
            }
            for (AppliedRules.Uncharged uncharged : stage.rules().uncharged()) {
                if (uncharged.outcome() != Outcome.EXEMPT) {
                    all.add(of(uncharged));
                }
            }
        }
        return List.copyOf(all);
    }

    private static RecordedCharge of(AppliedRules.Charged one) {
        Charge charge = one.charge();
        boolean own = one.isOfOwnLimits();
        String plan = own ? null : planOf(one.rule(), charge.policy());
        return of(
                one.rule(),
                charge.key(),
                charge.permits(),
                plan,
                own || plan != null
                        ? null
                        : RecordingText.limits(charge.policy().limits()));
    }

    @SuppressWarnings("ReferenceEquality") // another plan may have the same limits
    private static @Nullable String planOf(Rule rule, Policy policy) {
        for (Map.Entry<String, LimitOverride> plan : rule.overrides().plans().entrySet()) {
            if (plan.getValue() instanceof LimitOverride.Limited limited && limited.policy() == policy) {
                return plan.getKey();
            }
        }
        return null;
    }

    private static RecordedCharge of(
            Rule rule, @Nullable String key, long permits, @Nullable String plan, @Nullable String override) {
        List<KeyKind> kinds = rule.key().parts().stream().map(KeyPart::kind).toList();
        return new RecordedCharge(rule.policy().name(), kinds, key, permits, plan, override);
    }

    /** Refused in shadow mode, without a limit, without a key that it needs, or blocked. */
    private static RecordedCharge of(AppliedRules.Uncharged one) {
        if (one.refused() != null) {
            return of(one.refused());
        }
        if (one.outcome() == Outcome.UNLIMITED) {
            return of(one.rule(), "", 1, null, PropertyName.of(LimitOverride.Fixed.UNLIMITED));
        }
        String blocked = one.key() == null ? null : PropertyName.of(LimitOverride.Fixed.BLOCKED);
        return of(one.rule(), one.key(), 1, null, blocked);
    }
}
