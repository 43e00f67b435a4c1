package dev.ratelimit.spring.web;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.spring.Allowance;
import dev.ratelimit.spring.Call;
import dev.ratelimit.spring.MissingKey;
import dev.ratelimit.spring.Rule;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The rules that apply to a request at one stage, and what it has paid to each. Not thread-safe. */
final class AppliedRules {

    /** Rules that nothing is charged for. */
    private record Uncharged(Rule rule, Outcome outcome) {}

    private final List<Rule> rules = new ArrayList<>(4);
    private final List<Charge> charges = new ArrayList<>(4);
    private final List<Uncharged> uncharged = new ArrayList<>(0);
    private boolean denied;
    private final boolean exempt;
    private @Nullable Decision decision;
    private @Nullable StoreUnavailableException unavailable;

    /** None yet. */
    AppliedRules(boolean exempt) {
        this.exempt = exempt;
    }

    /** Applies a rule to a request that it is meant for. */
    void add(Rule rule, Call call) {
        Allowance allowance = rule.allowance(call);
        if (allowance instanceof Allowance.Limited limited) {
            charge(rule, limited.policy(), call);
        } else if (allowance == Allowance.Fixed.BLOCKED) {
            addUncharged(rule, Outcome.REFUSED);
        } else {
            addUncharged(rule, allowance == Allowance.Fixed.EXEMPT ? Outcome.EXEMPT : Outcome.UNLIMITED);
        }
    }

    private void charge(Rule rule, Policy policy, Call call) {
        String key = rule.key().of(call);
        if (key != null) {
            rules.add(rule);
            charges.add(policy.charge(key, rule.price().permits().applyAsLong(call)));
        } else if (rule.key().missing() == MissingKey.REJECT) {
            addUncharged(rule, Outcome.REFUSED);
        }
    }

    /** Takes a rule out that is meant for the request, as all rules are. */
    void addExempt(Rule rule) {
        addUncharged(rule, Outcome.EXEMPT);
    }

    private void addUncharged(Rule rule, Outcome outcome) {
        uncharged.add(new Uncharged(rule, outcome));
        denied |= outcome == Outcome.REFUSED;
    }

    /** Whether no rule applies to the request, though some may be meant for it. */
    boolean exempt() {
        return exempt;
    }

    /**
     * Charges the request to all rules, or to none; to none also where a rule refuses it whatever it pays, or cannot be
     * passed as the store does not answer.
     */
    boolean charge(RateLimitStore store) {
        if (denied || charges.isEmpty()) {
            return !denied;
        }
        try {
            decision = store.decide(charges);
            return decision.admitted();
        } catch (StoreUnavailableException e) {
            unavailable = e;
            return false;
        }
    }

    /** Why the store could not decide; {@code null} where it has, or nothing was to decide. */
    @Nullable
    StoreUnavailableException unavailable() {
        return unavailable;
    }

    /** What was charged is given back, as the request goes no further; the limits stand as after that. */
    void giveBack(RateLimitStore store) {
        if (decision != null && decision.admitted()) {
            store.refund(charges, decision);
            decision = peek(store);
        }
    }

    private @Nullable Decision peek(RateLimitStore store) {
        try {
            return store.peek(charges);
        } catch (StoreUnavailableException e) {
            // then nothing is told of them
            return null;
        }
    }

    /** It turns out that no rule applies to the request. */
    void exempt(RateLimitStore store, Outcomes outcomes) {
        giveBack(store);
        rules.forEach(rule -> outcomes.count(rule.policy().name(), Outcome.EXEMPT));
        rules.clear();
        charges.clear();
        decision = null;
    }

    /** Whether what is charged depends on the response. */
    boolean dependsOnStatus() {
        for (int i = 0; i < rules.size(); i++) {
            if (rules.get(i).counted() != null) {
                return true;
            }
        }
        return false;
    }

    /** Gives back what rules charged that do not count this status. */
    void settle(int status, RateLimitStore store) {
        if (decision == null || !decision.admitted()) {
            return;
        }
        List<Charge> uncounted = new ArrayList<>();
        for (int i = 0; i < rules.size(); i++) {
            Rule rule = rules.get(i);
            if (rule.counted() != null && !rule.counted().contains(status)) {
                uncounted.add(charges.get(i));
            }
        }
        if (!uncounted.isEmpty()) {
            store.refund(uncounted, decision);
        }
    }

    /** How each limit stands that was asked; a store that does not answer may leave out those of some policies. */
    List<LimitStatus> statuses() {
        return decision == null ? List.of() : decision.limits();
    }

    /** The limits that refused, the longest wait first. */
    List<LimitStatus> violated() {
        return decision == null ? List.of() : decision.violated();
    }

    /** The names of the policies that refused: those that no wait helps against, then the longest wait first. */
    List<String> violatedPolicies() {
        Set<String> names = new LinkedHashSet<>(4);
        for (Uncharged one : uncharged) {
            if (one.outcome() == Outcome.REFUSED) {
                names.add(one.rule().policy().name());
            }
        }
        for (LimitStatus status : violated()) {
            names.add(status.policy().name());
        }
        return List.copyOf(names);
    }

    /** The rule that applies the policy of this name. */
    Rule rule(String policy) {
        for (Rule rule : rules) {
            if (rule.policy().name().equals(policy)) {
                return rule;
            }
        }
        throw new IllegalStateException("no rule was applied for policy " + policy);
    }

    void countAdmitted(Outcomes outcomes) {
        rules.forEach(rule -> outcomes.count(rule.policy().name(), Outcome.ADMITTED));
        uncharged.forEach(one -> outcomes.count(one.rule().policy().name(), one.outcome()));
    }

    void countRefused(Outcomes outcomes) {
        if (unavailable != null) {
            outcomes.count(unavailable.policy(), Outcome.UNAVAILABLE);
        }
        violatedPolicies().forEach(policy -> outcomes.count(policy, Outcome.REFUSED));
    }
}
