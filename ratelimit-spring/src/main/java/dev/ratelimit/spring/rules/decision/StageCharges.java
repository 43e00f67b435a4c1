package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Reservation;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.FreeStatuses;
import dev.ratelimit.spring.rules.rule.Rule;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What a request was charged at one stage, by each of the rules that apply. Not thread-safe. */
public final class StageCharges {

    private final RateLimitStore store;
    private final AppliedRules rules;

    /** Which the rules are of. */
    private Map<String, Rule> inForce;

    /** Whether the request has waited for its permits. */
    private boolean waited;

    /** The clock of the wait; {@code null} if the request does not wait. */
    private @Nullable Ticker ticker;

    /** When it began; once it is over, how long it was. */
    private long waitNanos;

    /** Whether its refusal is held back. */
    private boolean delayed;

    /** Tells that held permits come back. */
    private List<Runnable> returns = List.of();

    private @Nullable Reservation reservation;

    private @Nullable Decision decision;
    private @Nullable StoreUnavailableException unavailable;

    /** The enforced limits that refused the request, longest wait first. */
    private List<LimitStatus> violated = List.of();

    /** The names of the policies that refused the request. */
    private List<String> violatedPolicies = List.of();

    /**
     * Creates an object that has charged nothing yet.
     *
     * @param inForce all rules at the moment, by policy
     */
    StageCharges(RateLimitStore store, AppliedRules rules, Map<String, Rule> inForce) {
        this.store = store;
        this.rules = rules;
        this.inForce = inForce;
    }

    /** The rules that apply at this stage. */
    public AppliedRules rules() {
        return rules;
    }

    /**
     * Charges the request to all rules or to none. Nothing is charged if a rule refuses the request regardless of its
     * budget, or if the store does not answer and a policy then refuses it.
     */
    public boolean charge() {
        violatedPolicies = rules.denying();
        if (!violatedPolicies.isEmpty()) {
            return false;
        }
        askStore();
        return isAdmitted();
    }

    private boolean isAdmitted() {
        return unavailable == null && (decision == null || decision.admitted());
    }

    /** Asks the store, and again without each policy in shadow mode that refuses. */
    private void askStore() {
        List<Charge> charges = rules.charges();
        boolean again = true;
        while (again && !charges.isEmpty()) {
            again = false;
            try {
                decision = store.decide(charges);
            } catch (StoreUnavailableException e) {
                again = rules.takeOutShadow(e.policy(), Outcome.UNAVAILABLE);
                unavailable = again ? null : e;
                charges = rules.charges();
                continue;
            }
            if (!decision.admitted()) {
                again = refusedOnlyByShadows(decision.violated());
                charges = rules.charges();
            }
        }
        if (charges.isEmpty()) {
            // only policies in shadow mode applied, and they refused
            decision = null;
        }
    }

    /**
     * Tries to charge a request that may wait, to all rules or to none, at their present limits.
     *
     * @throws StoreUnavailableException if the store does not answer and a policy then refuses the request
     */
    Decision attempt(RulesInForce now) {
        if (now.byPolicy() != inForce) {
            rules.renew(now);
            inForce = now.byPolicy();
        }
        askStore();
        if (unavailable != null) {
            throw unavailable;
        }
        if (decision == null) {
            return new Decision(true, List.of(), List.of(), null);
        }
        // limits in shadow mode have no say in whether it waits, nor for how long
        return decision.admitted()
                ? decision
                : new Decision(false, decision.charges(), rules.enforced(decision.limits()), null);
    }

    /** Takes over the result of the last attempt, at once or after a wait. Returns whether the request is admitted. */
    boolean finish(CompletableFuture<?> attempts) {
        try {
            decision = (Decision) attempts.join();
        } catch (CompletionException e) {
            if (!(e.getCause() instanceof StoreUnavailableException down)) {
                throw e.getCause() instanceof RuntimeException own ? own : e;
            }
            unavailable = down;
            decision = null;
        }
        if (decision != null && !decision.admitted()) {
            violated = rules.enforced(decision.violated());
            violatedPolicies = namesOf(violated);
        }
        return isAdmitted();
    }

    /** Notes that the request waits for its permits from now on. */
    void beginWait(Ticker clock) {
        ticker = clock;
        waitNanos = clock.nanos();
    }

    /** Notes how long the request has waited. */
    void endWait() {
        waitNanos = ticker == null ? 0 : ticker.nanos() - waitNanos;
        waited = true;
    }

    /** Refunds what was charged to a request that does not wait any more. */
    void refundLate(CompletableFuture<?> attempts) {
        if (!attempts.isCompletedExceptionally() && attempts.join() instanceof Decision late && late.admitted()) {
            store.refund(late);
        }
    }

    /** Notes that the refusal is held back. */
    void delay() {
        delayed = true;
    }

    /** Updates the limits of a request that is refused after a while. */
    void refresh() {
        Decision now = unavailable == null ? peek() : null;
        if (now != null) {
            List<LimitStatus> refusing = rules.enforced(now.violated());
            List<LimitStatus> before = violated;
            violated = before.stream()
                    .map(status -> refusing.stream()
                            .filter(one -> one.charge().sameBudget(status.charge()))
                            .findFirst()
                            .orElseGet(() -> due(status)))
                    .toList();
            decision = new Decision(false, now.charges(), now.limits(), null);
        }
    }

    /** The status of a limit that has permits again. */
    private static LimitStatus due(LimitStatus status) {
        return new LimitStatus(status.charge(), status.limit(), status.remaining(), 1, 0, status.fullAfterNanos());
    }

    /** Takes out the policies in shadow mode that refused; returns whether the others can now be charged. */
    private boolean refusedOnlyByShadows(List<LimitStatus> refusing) {
        violated = rules.enforced(refusing);
        violatedPolicies = namesOf(violated);
        boolean fewer = false;
        for (int i = 0; violated.size() < refusing.size() && i < refusing.size(); i++) {
            fewer |= rules.takeOutShadow(refusing.get(i).policy().name(), Outcome.SHADOW_REFUSED);
        }
        return fewer && violated.isEmpty();
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

    /** Refunds all charges of a refused request and updates the limits. */
    void giveBack() {
        if (decision != null && decision.admitted()) {
            reservation(decision).refund();
            decision = peek();
        }
    }

    private @Nullable Decision peek() {
        try {
            return store.peek(rules.charges());
        } catch (RuntimeException e) {
            // without an answer, the headers show no limits
            return null;
        }
    }

    /** Records that some rules do not apply to the request after all, and refunds what they charged. */
    void exempt(AppliedRules.Exemption exemption) {
        List<Charge> exempted = rules.takeOut(exemption);
        if (!exempted.isEmpty()) {
            refund(exempted::contains);
        }
    }

    /** Refunds the charges of rules for which all these statuses are free, unless they are settled. */
    void settle(List<Integer> statuses) {
        refund(charge -> {
            FreeStatuses free = rules.ruleOf(charge).free();
            return free != null && statuses.stream().allMatch(free::contains);
        });
    }

    /** Refunds all charges, unless they are settled. */
    void refund() {
        refund(charge -> true);
    }

    /** Whether the request holds permits until it is complete. */
    boolean holds() {
        return rules.holding() && decision != null && decision.admitted();
    }

    /** Returns the permits that the request holds, once. */
    void release() {
        if (rules.holding()) {
            try {
                refund(charge -> rules.ruleOf(charge).holds());
            } finally {
                returns.forEach(Runnable::run);
            }
        }
    }

    private void countHeld(OutcomeCounter outcomes) {
        returns = rules.charged().stream()
                .filter(one -> one.rule().holds())
                .map(one -> outcomes.held(one.charge()))
                .toList();
    }

    private void refund(Predicate<Charge> part) {
        if (decision != null && decision.admitted()) {
            reservation(decision).part(part).refund();
        }
    }

    /** The charges whose permits do not count requests, to be settled by the application; {@code null} if none. */
    @Nullable
    Reservation settleable() {
        if (!rules.metered() || decision == null || !decision.admitted()) {
            return null;
        }
        return reservation(decision)
                .part(charge -> rules.anyCharged(
                        one -> one.metered() && one.isOf(charge.policy().name())));
    }

    /** The charges of the decision, each of which is settled once. */
    private synchronized Reservation reservation(Decision of) {
        if (reservation == null) {
            reservation = Reservation.of(store, of);
        }
        return reservation;
    }

    /** The state of each limit in the last decision, including those in shadow mode. */
    public List<LimitStatus> asked() {
        return decision == null ? List.of() : decision.limits();
    }

    /** The state of each limit that was asked; without those that the store could not read. */
    List<LimitStatus> statuses() {
        return decision == null ? List.of() : rules.enforced(decision.limits());
    }

    /** Whether the limit's budget belongs to the caller alone, so that showing it reveals nothing about others. */
    boolean isOfCaller(LimitStatus limit, RequestContext context) {
        return rules.ruleOf(limit.charge()).key().identifiesCaller(context);
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

    public void countAdmitted(OutcomeCounter outcomes) {
        List<AppliedRules.Charged> charged = rules.charged();
        for (int i = 0; i < charged.size(); i++) {
            Rule rule = charged.get(i).rule();
            boolean afterWait = waited && rule.onExceeded().waits();
            outcomes.count(rule.policy().name(), afterWait ? Outcome.WAITED : Outcome.ADMITTED);
            if (afterWait) {
                outcomes.waited(rule.policy().name(), Outcome.WAITED, waitNanos);
            }
        }
        for (AppliedRules.Uncharged one : rules.uncharged()) {
            String key = one.key();
            if (one.counted()) {
                outcomes.count(one.rule().policy().name(), one.outcome());
            }
            if (one.outcome() == Outcome.SHADOW_REFUSED && key != null) {
                outcomes.refused(one.rule().policy().name(), key);
            }
        }
        if (holds()) {
            countHeld(outcomes);
        }
    }

    /** Policies in shadow mode do not count a request that is refused without them. */
    public void countRefused(OutcomeCounter outcomes) {
        if (unavailable != null) {
            outcomes.count(unavailable.policy(), Outcome.UNAVAILABLE);
        }
        for (int i = 0; i < violatedPolicies.size(); i++) {
            String policy = violatedPolicies.get(i);
            outcomes.count(policy, delayed ? Outcome.DELAYED : Outcome.REFUSED);
            String key = rules.keyOf(policy);
            if (key != null) {
                outcomes.refused(policy, key);
            }
            if (waited && rules.ruleOf(policy).onExceeded().waits()) {
                outcomes.waited(policy, Outcome.REFUSED, waitNanos);
            }
        }
    }
}
