package dev.ratelimit.spring.rules;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Reservation;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.spring.rules.OutcomeCounter.Outcome;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The rules that apply to a request at one stage, and what the request was charged by each. Not thread-safe. */
final class StageCharges {

    /** A required part of the rule's key that the request has no value for. */
    record Lack(Rule rule, KeyPart part) {}

    /** Exempts the request from no rule. */
    static final Predicate<Rule> NO_EXEMPTION = rule -> false;

    /** Rules that charge nothing. */
    private record Uncharged(Rule rule, Outcome outcome) {}

    private final RateLimitStore store;

    /** All rules, by the names of their policies. */
    private final Map<String, Rule> rules;

    /** The rules that the request is exempt from, even if they match it. */
    private final Predicate<Rule> exempt;

    /** One for each budget. */
    private final List<Charge> charges = new ArrayList<>(4);

    private List<Uncharged> uncharged = List.of();

    /** The names of the policies whose refusals are only recorded; few requests have any. */
    private List<String> shadows = List.of();

    /** What was charged although the request turned out to be exempt. */
    private List<Charge> without = List.of();

    private boolean denied;

    /** Whether the request holds permits until it is complete. */
    private boolean holding;

    /** The names of the policies whose permits do not count requests, so that the application may settle them. */
    private List<String> metered = List.of();

    /** Tells that held permits come back. */
    private List<Runnable> returns = List.of();

    private @Nullable Reservation reservation;

    private @Nullable Lack lack;
    private @Nullable Decision decision;
    private @Nullable StoreUnavailableException unavailable;

    /** The enforced limits that refused the request, longest wait first. */
    private List<LimitStatus> violated = List.of();

    /** The names of the policies that refused the request. */
    private List<String> violatedPolicies = List.of();

    /** Creates an object without charges. */
    StageCharges(RateLimitStore store, Map<String, Rule> rules, Predicate<Rule> exempt) {
        this.store = store;
        this.rules = rules;
        this.exempt = exempt;
    }

    /** Applies a rule to a matching request. */
    void add(Rule rule, RequestContext context) {
        if (exempt.test(rule)) {
            addUncharged(rule, Outcome.EXEMPT);
            return;
        }
        if (rule.shadow()) {
            shadows = plus(shadows, rule.policy().name());
        }
        LimitOverride override = rule.override(context);
        if (override instanceof LimitOverride.Limited limited) {
            charge(rule, limited, context);
        } else if (override == LimitOverride.Fixed.BLOCKED) {
            addRefused(rule);
        } else {
            addUncharged(rule, override == LimitOverride.Fixed.EXEMPT ? Outcome.EXEMPT : Outcome.UNLIMITED);
        }
    }

    private void charge(Rule rule, LimitOverride.Limited limits, RequestContext context) {
        String key = rule.key().of(context);
        if (key != null) {
            holding |= rule.holds();
            if (!rule.cost().isOne() && !rule.holds()) {
                metered = plus(metered, rule.policy().name());
            }
            add(limits.charge(key, rule.cost().permits().applyAsLong(context)));
        } else if (rule.key().missing() == MissingKey.REJECT) {
            if (lack == null && !rule.shadow()) {
                KeyPart part = rule.key().missingPart(context);
                lack = part == null ? null : new Lack(rule, part);
            }
            addRefused(rule);
        }
    }

    /** Whether refusals by this policy are only recorded. */
    private boolean isShadow(String policy) {
        return shadows.contains(policy);
    }

    private void addRefused(Rule rule) {
        addUncharged(rule, rule.shadow() ? Outcome.SHADOW_REFUSED : Outcome.REFUSED);
    }

    /** An endpoint may name a policy several times, at costs that add up. */
    private void add(Charge charge) {
        for (int i = 0; i < charges.size(); i++) {
            Charge before = charges.get(i);
            if (before.sameBudget(charge)) {
                charges.set(i, before.plus(charge.permits()));
                return;
            }
        }
        charges.add(charge);
    }

    private void addUncharged(Rule rule, Outcome outcome) {
        uncharged = plus(uncharged, new Uncharged(rule, outcome));
        denied |= outcome == Outcome.REFUSED;
    }

    /** The same list with one more element; only a list that is needed is created. */
    private static <T> List<T> plus(List<T> list, T element) {
        List<T> all = list.isEmpty() ? new ArrayList<>(4) : list;
        all.add(element);
        return all;
    }

    /** The rules that the request is exempt from, even if they match it. */
    Predicate<Rule> exempt() {
        return exempt;
    }

    /**
     * Charges the request to all rules or to none. Nothing is charged if a rule refuses the request regardless of its
     * budget, or if the store does not answer and a policy then refuses it.
     */
    boolean charge() {
        if (denied) {
            violatedPolicies = uncharged.stream()
                    .filter(one -> one.outcome() == Outcome.REFUSED)
                    .map(one -> one.rule().policy().name())
                    .distinct()
                    .toList();
            return false;
        }
        boolean again = true;
        while (again && !charges.isEmpty()) {
            again = false;
            try {
                decision = store.decide(List.copyOf(charges));
            } catch (StoreUnavailableException e) {
                again = takeOutShadow(e.policy(), Outcome.UNAVAILABLE);
                unavailable = again ? null : e;
                continue;
            }
            if (!decision.admitted()) {
                again = refusedOnlyByShadows(decision.violated());
            }
        }
        if (charges.isEmpty()) {
            // only policies in shadow mode applied, and they refused
            decision = null;
        }
        return unavailable == null && (decision == null || decision.admitted());
    }

    /** Takes out the policies in shadow mode that refused; returns whether the others can now be charged. */
    private boolean refusedOnlyByShadows(List<LimitStatus> refusing) {
        violated = enforced(refusing);
        violatedPolicies = namesOf(violated);
        boolean fewer = false;
        for (int i = 0; violated.size() < refusing.size() && i < refusing.size(); i++) {
            fewer |= takeOutShadow(refusing.get(i).policy().name(), Outcome.SHADOW_REFUSED);
        }
        return fewer && violated.isEmpty();
    }

    /** Takes out a policy in shadow mode, so that the others can be charged; returns whether it was one. */
    private boolean takeOutShadow(String policy, Outcome outcome) {
        boolean out = isShadow(policy)
                && charges.removeIf(charge -> charge.policy().name().equals(policy));
        if (out) {
            addUncharged(ruleOf(policy), outcome);
        }
        return out;
    }

    /** The names of their policies, without repetitions. */
    private static List<String> namesOf(List<LimitStatus> limits) {
        return limits.size() == 1
                ? List.of(limits.get(0).policy().name())
                : limits.stream().map(limit -> limit.policy().name()).distinct().toList();
    }

    /** Why the store could not decide; {@code null} if it has decided or was not asked. */
    @Nullable
    StoreUnavailableException unavailable() {
        return unavailable;
    }

    /** The required part that the request lacks; {@code null} if it lacks none. */
    @Nullable
    Lack lack() {
        return lack;
    }

    /** Refunds all charges of a refused request and updates the limits. */
    void giveBack() {
        if (decision != null && decision.admitted()) {
            reservation(decision).refund();
            decision = peek();
        }
    }

    private @Nullable Decision peek() {
        try {
            return store.peek(List.copyOf(charges));
        } catch (RuntimeException e) {
            // without an answer, the headers show no limits
            return null;
        }
    }

    /** Records that some rules do not apply to the request after all, and refunds what they charged. */
    void exempt(Predicate<Rule> from) {
        List<Charge> exempted = charges.stream()
                .filter(charge -> from.test(ruleOf(charge.policy())))
                .toList();
        if (!exempted.isEmpty()) {
            refund(exempted::contains);
            charges.removeAll(exempted);
            exempted.forEach(charge -> addUncharged(ruleOf(charge.policy()), Outcome.EXEMPT));
            holding =
                    charges.stream().anyMatch(charge -> ruleOf(charge.policy()).holds());
            without = exempted;
        }
    }

    /** Whether the charge depends on the status of the response. */
    boolean dependsOnStatus() {
        for (int i = 0; i < charges.size(); i++) {
            if (ruleOf(charges.get(i).policy()).free() != null) {
                return true;
            }
        }
        return false;
    }

    /** Refunds the charges of rules for which all these statuses are free, unless they are settled. */
    void settle(List<Integer> statuses) {
        refund(charge -> {
            FreeStatuses free = ruleOf(charge.policy()).free();
            return free != null && statuses.stream().allMatch(free::contains);
        });
    }

    /** Whether the request holds permits until it is complete. */
    boolean holds() {
        return holding && decision != null && decision.admitted();
    }

    /** Returns the permits that the request holds, once. */
    void release() {
        if (holding) {
            refund(charge -> ruleOf(charge.policy()).holds());
            returns.forEach(Runnable::run);
        }
    }

    private void tellHeld(OutcomeCounter outcomes) {
        charges.stream()
                .filter(charge -> ruleOf(charge.policy()).holds())
                .forEach(charge -> returns = plus(returns, outcomes.held(charge)));
    }

    private void refund(Predicate<Charge> part) {
        if (decision != null && decision.admitted()) {
            reservation(decision).part(part).refund();
        }
    }

    /** The charges whose permits do not count requests, to be settled by the application; {@code null} if none. */
    @Nullable
    Reservation settleable() {
        if (metered.isEmpty() || decision == null || !decision.admitted()) {
            return null;
        }
        return reservation(decision)
                .part(charge -> metered.contains(charge.policy().name()));
    }

    /** The charges of the decision, each of which is settled once. */
    private synchronized Reservation reservation(Decision of) {
        if (reservation == null) {
            reservation = Reservation.of(store, of);
        }
        return reservation;
    }

    /** What is charged, one for each budget; without the policies in shadow mode that have refused. */
    List<Charge> charges() {
        return Collections.unmodifiableList(charges);
    }

    /** The state of each limit in the last decision, including those in shadow mode. */
    List<LimitStatus> asked() {
        return decision == null ? List.of() : decision.limits();
    }

    /** The state of each limit that was asked; without those that the store could not read. */
    List<LimitStatus> statuses() {
        return decision == null ? List.of() : enforced(decision.limits());
    }

    /** Without the limits of policies in shadow mode and of those that the request is exempt from. */
    private List<LimitStatus> enforced(List<LimitStatus> limits) {
        return shadows.isEmpty() && without.isEmpty()
                ? limits
                : limits.stream()
                        .filter(limit -> !isShadow(limit.policy().name()) && !without.contains(limit.charge()))
                        .toList();
    }

    /** The enforced limits that refused, longest wait first. */
    List<LimitStatus> violated() {
        return violated;
    }

    /**
     * The names of the enforced policies that refused: those for which no wait helps, or else the longest wait first.
     */
    List<String> violatedPolicies() {
        return violatedPolicies;
    }

    /** The rule of this policy, or of one with the limits of a plan or an override. */
    Rule ruleOf(Policy policy) {
        return ruleOf(policy.name());
    }

    /** The rule of the policy with this name. */
    Rule ruleOf(String policy) {
        return Objects.requireNonNull(rules.get(policy));
    }

    void countAdmitted(OutcomeCounter outcomes) {
        for (int i = 0; i < charges.size(); i++) {
            outcomes.count(charges.get(i).policy().name(), Outcome.ADMITTED);
        }
        for (int i = 0; i < uncharged.size(); i++) {
            outcomes.count(
                    uncharged.get(i).rule().policy().name(), uncharged.get(i).outcome());
        }
        if (holds()) {
            tellHeld(outcomes);
        }
    }

    void countRefused(OutcomeCounter outcomes) {
        if (unavailable != null) {
            outcomes.count(unavailable.policy(), Outcome.UNAVAILABLE);
        }
        for (int i = 0; i < violatedPolicies.size(); i++) {
            outcomes.count(violatedPolicies.get(i), Outcome.REFUSED);
        }
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            if (violatedPolicies.contains(charge.policy().name())) {
                outcomes.refused(charge.policy().name(), charge.key());
            }
        }
        for (int i = 0; i < uncharged.size(); i++) {
            if (uncharged.get(i).outcome() == Outcome.SHADOW_REFUSED) {
                outcomes.count(uncharged.get(i).rule().policy().name(), Outcome.SHADOW_REFUSED);
            }
        }
    }
}
