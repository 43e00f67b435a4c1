package dev.ratelimit.spring.rules.recording;

import dev.ratelimit.Charge;
import dev.ratelimit.spring.rules.decision.AppliedRules;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import dev.ratelimit.spring.rules.decision.StageCharges;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.Rule;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a request asked one policy for, whether it was charged or refused.
 *
 * @param rule of the policy
 * @param key whose budget it is; {@code null} if the request lacks a part of it
 * @param permits that it costs
 * @param override the limits of the key, if they are not those of the policy; {@code null} if they are
 */
record RecordedCharge(
        Rule rule,
        @Nullable String key,
        long permits,
        @Nullable LimitOverride override) {

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
        return new RecordedCharge(
                one.rule(),
                charge.key(),
                charge.permits(),
                one.isOfOwnLimits() ? null : new LimitOverride.Limited(charge.policy()));
    }

    /** Refused in shadow mode, without a limit, without a key that it needs, or blocked. */
    private static RecordedCharge of(AppliedRules.Uncharged one) {
        if (one.refused() != null) {
            return of(one.refused());
        }
        if (one.outcome() == Outcome.UNLIMITED) {
            return new RecordedCharge(one.rule(), "", 1, LimitOverride.Fixed.UNLIMITED);
        }
        return new RecordedCharge(one.rule(), one.key(), 1, one.key() == null ? null : LimitOverride.Fixed.BLOCKED);
    }
}
