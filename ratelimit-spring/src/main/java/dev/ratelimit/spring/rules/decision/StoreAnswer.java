package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * What the store says to the charges of a stage. It is asked for all of them, and again without each policy in shadow
 * mode that refuses. Not thread-safe: while the store has not answered, nobody else may use it.
 */
final class StoreAnswer {

    private final RateLimitStore store;
    private final AppliedRules rules;

    private @Nullable Decision decision;
    private @Nullable StoreUnavailableException unavailable;

    /** The enforced limits that refused the request, longest wait first. */
    private List<LimitStatus> violated = List.of();

    /** The names of the policies that refused the request. */
    private List<String> violatedPolicies = List.of();

    StoreAnswer(RateLimitStore store, AppliedRules rules) {
        this.store = store;
        this.rules = rules;
    }

    /** Asks for all charges, or is denied. Returns whether the request is admitted. */
    boolean ask() {
        if (isDenied()) {
            return false;
        }
        askAll();
        return isAdmitted();
    }

    /** Whether a rule refuses the request regardless of its budget. */
    boolean isDenied() {
        violatedPolicies = rules.denying();
        return !violatedPolicies.isEmpty();
    }

    /**
     * Asks like {@link #ask} without blocking, unless the request {@linkplain #isDenied is denied}. If the result
     * is completed by somebody else, what the store takes is refunded.
     *
     * @return completed when this object has the decision, with the same, which is {@code null} if there is none
     */
    CompletableFuture<@Nullable Decision> askAsync() {
        CompletableFuture<@Nullable Decision> asked = new CompletableFuture<>();
        ask(toAsk(), asked);
        return asked;
    }

    /** Takes over what the store has answered. Returns whether the request is admitted. */
    boolean isAdmitted(CompletableFuture<@Nullable Decision> asked) {
        try {
            asked.join();
        } catch (CompletionException e) {
            throw unwrapped(e);
        }
        return isAdmitted();
    }

    boolean isAdmitted() {
        return unavailable == null && (decision == null || decision.admitted());
    }

    /** Asks the store, and again without each policy in shadow mode that refuses. */
    void askAll() {
        List<Charge> charges = toAsk();
        while (!charges.isEmpty()) {
            try {
                charges = answered(store.decide(charges));
            } catch (StoreUnavailableException e) {
                charges = failed(e);
            }
        }
    }

    /** Does the same without blocking: what the store does not answer at once goes on when it does. */
    private void ask(List<Charge> first, CompletableFuture<@Nullable Decision> asked) {
        List<Charge> charges = first;
        try {
            while (!charges.isEmpty() && !asked.isDone()) {
                CompletableFuture<Decision> answer = store.decideAsync(charges).toCompletableFuture();
                if (!answer.isDone()) {
                    CompletableFuture<?> unused = answer.whenComplete((decided, failure) -> goOn(answer, asked));
                    return;
                }
                charges = answered(answer);
            }
        } catch (RuntimeException | Error e) {
            asked.completeExceptionally(e);
            return;
        }
        if (!asked.complete(decision) && decision != null && decision.admitted()) {
            store.refund(decision);
        }
    }

    private void goOn(CompletableFuture<Decision> answer, CompletableFuture<@Nullable Decision> asked) {
        List<Charge> next;
        try {
            next = answered(answer);
        } catch (RuntimeException | Error e) {
            asked.completeExceptionally(e);
            return;
        }
        ask(next, asked);
    }

    private List<Charge> answered(CompletableFuture<Decision> answer) {
        try {
            return answered(answer.join());
        } catch (CompletionException e) {
            if (e.getCause() instanceof StoreUnavailableException down) {
                return failed(down);
            }
            throw unwrapped(e);
        }
    }

    /** Takes over an answer; returns what to ask for again. */
    private List<Charge> answered(Decision answer) {
        decision = answer;
        boolean again = !answer.admitted() && refusedOnlyByShadows(answer.violated());
        return again ? toAsk() : List.of();
    }

    /** Takes over that there is no answer; returns what to ask for again. */
    private List<Charge> failed(StoreUnavailableException failure) {
        boolean again = rules.takeOutShadow(failure.policy(), Outcome.UNAVAILABLE);
        unavailable = again ? null : failure;
        return again ? toAsk() : List.of();
    }

    private List<Charge> toAsk() {
        List<Charge> charges = rules.charges();
        if (charges.isEmpty()) {
            // at most policies in shadow mode applied, and they refused
            decision = null;
        }
        return charges;
    }

    private static RuntimeException unwrapped(CompletionException failure) {
        if (failure.getCause() instanceof Error error) {
            throw error;
        }
        return failure.getCause() instanceof RuntimeException own ? own : failure;
    }

    /** Takes over the result of the last attempt, at once or after a wait. Returns whether the request is admitted. */
    boolean finish(CompletableFuture<?> attempts) {
        try {
            decision = (Decision) attempts.join();
        } catch (CompletionException e) {
            if (!(e.getCause() instanceof StoreUnavailableException down)) {
                throw unwrapped(e);
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

    /** The last decision; {@code null} if the store was not asked, or has not decided. */
    @Nullable
    Decision decision() {
        return decision;
    }

    /** The last decision, if it has taken something. */
    @Nullable
    Decision taken() {
        return decision != null && decision.admitted() ? decision : null;
    }

    /** Replaces the decision by the limits at another moment; {@code null} if they are unknown. */
    void show(@Nullable Decision now) {
        decision = now;
    }

    /** Updates the limits of a refusal, unless they are unknown. */
    void refresh(@Nullable Decision now) {
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
}
