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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What a request was charged at one stage, by each of the rules that apply. Not thread-safe. */
public final class StageCharges {

    /** What is done at once. */
    static final CompletableFuture<?> DONE = CompletableFuture.completedFuture(true);

    private final RateLimitStore store;
    private final AppliedRules rules;

    /** Whether the store may block the calling thread. */
    private boolean blocking = true;

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
    private Map<Charge, Runnable> returns = Map.of();

    /** Whether held permits have come back. */
    private boolean released;

    private final StoreAnswer answer;
    private @Nullable Reservation reservation;

    /** To be told if what policies charge is given back. Guarded by the monitor. */
    private List<Decided> decided = List.of();

    /** Of which rules that was given back, perhaps before anybody was told what they have decided. */
    private Predicate<Rule> givenBack = rule -> false;

    /** Somebody who was told what the limits of a rule have decided. */
    private record Decided(Rule rule, Runnable givenBack) {}

    /**
     * Creates an object that has charged nothing yet.
     *
     * @param inForce all rules at the moment, by policy
     */
    StageCharges(RateLimitStore store, AppliedRules rules, Map<String, Rule> inForce) {
        this.store = store;
        this.rules = rules;
        this.inForce = inForce;
        this.answer = new StoreAnswer(store, rules);
    }

    /** From now on, the store does not block the calling thread. */
    StageCharges withoutBlocking() {
        blocking = false;
        return this;
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
        return answer.ask();
    }

    /** What the store says; it may be asked without blocking. */
    StoreAnswer answer() {
        return answer;
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
        answer.askAll();
        StoreUnavailableException unavailable = answer.unavailable();
        if (unavailable != null) {
            throw unavailable;
        }
        Decision decision = answer.decision();
        if (decision == null) {
            return new Decision(true, List.of(), List.of(), null);
        }
        // limits in shadow mode have no say in whether it waits, nor for how long
        return decision.admitted()
                ? decision
                : new Decision(false, decision.charges(), rules.enforced(decision.limits()), null);
    }

    /** Notes that the request waits for its permits from now on. */
    void beginWait(Ticker clock) {
        ticker = clock;
        waitNanos = clock.nanos();
    }

    /** Notes how long the request has waited. */
    void endWait() {
        if (ticker != null) {
            waitNanos = ticker.nanos() - waitNanos;
            ticker = null;
            waited = true;
        }
    }

    /** Whether the request has waited for its permits. */
    boolean hasWaited() {
        return waited;
    }

    /** How long the request has waited for its permits. */
    public long waitedNanos() {
        return waited ? waitNanos : 0;
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

    /** Updates the limits of a request that is refused after a while; completed when that is done. */
    CompletableFuture<?> refresh() {
        return answer.unavailable() == null ? peek(answer::refresh) : DONE;
    }

    /** Refunds all charges of a refused request and updates the limits; completed when that is done. */
    CompletableFuture<?> giveBack() {
        Decision taken = answer.taken();
        if (taken == null) {
            return DONE;
        }
        try {
            reservation(taken).refund();
        } finally {
            countReturned();
        }
        return peek(answer::show);
    }

    /** Reads the limits; {@code null} without an answer: the headers then show none. */
    private CompletableFuture<?> peek(Consumer<@Nullable Decision> update) {
        try {
            if (!blocking) {
                return store.peekAsync(rules.charges())
                        .handle((now, failure) -> {
                            update.accept(failure == null ? now : null);
                            return true;
                        })
                        .toCompletableFuture();
            }
            update.accept(store.peek(rules.charges()));
        } catch (RuntimeException e) {
            update.accept(null);
        }
        return DONE;
    }

    /** Records that some rules do not apply to the request after all, and refunds what they charged. */
    void exempt(AppliedRules.Exemption exemption) {
        List<Charge> exempted = rules.takeOut(exemption);
        if (!exempted.isEmpty()) {
            refund(exempted::contains);
            countReturned(exempted);
        }
    }

    /** Refunds the charges of rules for which all these statuses are free, unless they are settled. */
    void settle(List<Integer> statuses) {
        Predicate<Rule> isFree = rule -> {
            FreeStatuses free = rule.free();
            return free != null && statuses.stream().allMatch(free::contains);
        };
        tellRefund(isFree);
        refund(charge -> isFree.test(rules.ruleOf(charge)));
    }

    /** Refunds all charges, unless they are settled. */
    void refund() {
        tellRefund(rule -> true);
        refund(charge -> true);
    }

    private void tellRefund(Predicate<Rule> part) {
        List<Decided> all;
        synchronized (this) {
            givenBack = part;
            all = decided;
        }
        all.stream()
                .filter(one -> part.test(one.rule()))
                .forEach(one -> one.givenBack().run());
    }

    /** Whether the request holds permits until it is complete. */
    boolean holds() {
        return rules.holding() && answer.taken() != null;
    }

    /** Returns the permits that the request holds, once. */
    void release() {
        if (rules.holding()) {
            try {
                refund(charge -> rules.ruleOf(charge).holds());
            } finally {
                countReturned();
            }
        }
    }

    private void countReturned() {
        Map<Charge, Runnable> all;
        synchronized (this) {
            released = true;
            all = returns;
        }
        all.values().forEach(Runnable::run);
    }

    private synchronized void countReturned(List<Charge> part) {
        part.stream().map(returns::get).filter(Objects::nonNull).forEach(Runnable::run);
    }

    /** Counts the permits that the request holds from now on, if any, until it {@linkplain #release returns} them. */
    void countHeld(OutcomeCounter outcomes) {
        if (!holds()) {
            return;
        }
        Map<Charge, Runnable> held = rules.charged().stream()
                .filter(one -> one.rule().holds())
                .map(AppliedRules.Charged::charge)
                .collect(Collectors.toMap(charge -> charge, outcomes::held));
        boolean late;
        synchronized (this) {
            returns = held;
            late = released;
        }
        if (late) {
            // the client has left meanwhile
            countReturned();
        }
    }

    private void refund(Predicate<Charge> part) {
        Decision taken = answer.taken();
        if (taken != null) {
            reservation(taken).part(part).refund();
        }
    }

    /** The charges whose permits do not count requests, to be settled by the application; {@code null} if none. */
    @Nullable
    Reservation settleable() {
        Decision taken = answer.taken();
        if (!rules.metered() || taken == null) {
            return null;
        }
        return reservation(taken)
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
        Decision decision = answer.decision();
        return decision == null ? List.of() : decision.limits();
    }

    /** The state of each limit that was asked; without those that the store could not read. */
    List<LimitStatus> statuses() {
        Decision decision = answer.decision();
        return decision == null ? List.of() : rules.enforced(decision.limits());
    }

    /** Whether the limit's budget belongs to the caller alone, so that showing it reveals nothing about others. */
    boolean isOfCaller(LimitStatus limit, RequestContext context) {
        return rules.ruleOf(limit.charge()).key().identifiesCaller(context);
    }

    public void countAdmitted(OutcomeCounter outcomes, RequestContext request) {
        List<AppliedRules.Charged> charged = rules.charged();
        for (int i = 0; i < charged.size(); i++) {
            Rule rule = charged.get(i).rule();
            boolean afterWait = waited && rule.onExceeded().waits();
            outcomes.count(
                    rule.policy().name(),
                    charged.get(i).charge().key(),
                    afterWait ? Outcome.WAITED : Outcome.ADMITTED,
                    request);
            if (afterWait) {
                outcomes.waited(rule.policy().name(), Outcome.WAITED, waitNanos);
            }
            tell(outcomes, charged.get(i), false, request);
        }
        List<AppliedRules.Uncharged> uncharged = rules.uncharged();
        for (int i = 0; i < uncharged.size(); i++) {
            AppliedRules.Uncharged one = uncharged.get(i);
            String policy = one.rule().policy().name();
            if (one.counted()) {
                outcomes.count(policy, one.key(), one.outcome(), request);
            }
            if (one.outcome() == Outcome.SHADOW_REFUSED && one.refused() != null) {
                tell(outcomes, one.refused(), true, request);
            }
        }
    }

    /** Tells what the own limits of a policy have decided, and keeps who is to be told of a refund. */
    private void tell(OutcomeCounter outcomes, AppliedRules.Charged one, boolean refused, RequestContext request) {
        if (!one.isOfOwnLimits()) {
            return;
        }
        Runnable undo = outcomes.decided(one.rule(), one.charge(), refused, request);
        if (undo == null) {
            return;
        }
        boolean late;
        synchronized (this) {
            List<Decided> more = new ArrayList<>(decided);
            more.add(new Decided(one.rule(), undo));
            decided = more;
            late = givenBack.test(one.rule());
        }
        if (late) {
            // some requests are counted only at their end
            undo.run();
        }
    }

    /** Policies in shadow mode do not count a request that is refused without them. */
    public void countRefused(OutcomeCounter outcomes, RequestContext request) {
        StoreUnavailableException unavailable = answer.unavailable();
        if (unavailable != null) {
            outcomes.count(unavailable.policy(), null, Outcome.UNAVAILABLE, request);
        }
        List<String> refusing = answer.violatedPolicies();
        for (int i = 0; i < refusing.size(); i++) {
            String policy = refusing.get(i);
            Outcome outcome = delayed ? Outcome.DELAYED : Outcome.REFUSED;
            outcomes.count(policy, rules.keyOf(policy), outcome, request);
            if (waited && rules.ruleOf(policy).onExceeded().waits()) {
                outcomes.waited(policy, Outcome.REFUSED, waitNanos);
            }
        }
        if (refusing.size() == 1 && !answer.violated().isEmpty()) {
            // with other limits, this policy would have let it pass
            rules.charged().stream()
                    .filter(one -> one.isOf(refusing.get(0)))
                    .forEach(one -> tell(outcomes, one, true, request));
        }
    }
}
