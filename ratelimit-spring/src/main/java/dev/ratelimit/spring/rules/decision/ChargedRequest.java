package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Reservation;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.WebResponse;
import dev.ratelimit.spring.rules.decision.RequestLimiter.Place;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.FreeStatuses;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request on its way through the stages, with the charges of each. The web stack keeps it with the request between
 * the stages. Used by one thread at a time; only {@link #close}, {@link #settle}, {@link #release} and
 * {@link #leave} may be called by another thread meanwhile. While it {@linkplain #isWaiting waits}, for permits, for its
 * refusal or for the answer of a store, nothing else may be called.
 */
public final class ChargedRequest {

    private final RulesInForce rules;
    private final OutcomeCounter outcomes;
    private final RefusalWriter refusals;
    private RequestContext context;

    /** Those passed so far, at most three before the handler is called, and its call. */
    private List<StageCharges> stages = List.of();

    /** Whether the call of the handler is still to be charged. */
    private boolean callFollows;

    /** The handler whose call was charged and admitted; {@code null} if there was none. */
    private @Nullable Method admittedCall;

    /** Whether a charge depends on the status of the response. */
    private boolean dependsOnStatus;

    /** Whether a stage has charged permits that the request holds until it is complete. */
    private boolean holds;

    /** What the request waits for; {@code null} if it does not wait. */
    private volatile @Nullable Wait wait;

    /** Whether the client has left, so that nothing may be charged any more. */
    private boolean gone;

    /** Whether the client has left while the request waited. */
    private boolean left;

    /** Whether the request is complete, so that it cannot hold permits any more. */
    private boolean released;

    private boolean closed;
    private boolean counted;
    private boolean refused;

    /**
     * The wait of a request for its permits, for its refusal, or for the answer of a store.
     *
     * @param place where it waits
     * @param charges which are decided when it is over
     * @param over completed when it is over: with a decision, unless the request is refused
     * @param next what then happens
     */
    private record Wait(Place place, StageCharges charges, CompletableFuture<?> over, Runnable next) {}

    ChargedRequest(RulesInForce rules, WebRequest request, OutcomeCounter outcomes, RefusalWriter refusals) {
        this.rules = rules;
        this.context = rules.context(request);
        this.outcomes = outcomes;
        this.refusals = refusals;
    }

    /** The rules at all stages of the request. */
    RulesInForce rules() {
        return rules;
    }

    /** The request as it was at the last stage. */
    public RequestContext context() {
        return context;
    }

    /** Enters the next stage with the request as it is there. */
    void enter(RequestContext later) {
        context = later;
    }

    /**
     * Lets the request pass a stage that has admitted it, or refuses it.
     *
     * @return completed when the limits are known that its answer shows
     */
    CompletableFuture<?> pass(StageCharges charges, boolean admitted) {
        if (!admitted) {
            return refuse(charges);
        }
        if (isGone()) {
            drop(charges);
            return StageCharges.DONE;
        }
        AppliedRules rules = charges.rules();
        if (!rules.exemption().equals(AppliedRules.Exemption.NONE)) {
            // earlier stages could not know this
            stages.forEach(stage -> stage.exempt(rules.exemption()));
        }
        add(charges);
        callFollows = rules.next() == AppliedRules.Next.CALL;
        if (rules.next() == AppliedRules.Next.NOTHING) {
            countAdmitted();
        }
        return StageCharges.DONE;
    }

    private synchronized boolean isGone() {
        return gone;
    }

    /** Refunds what was charged to a request whose client has left meanwhile. */
    private void drop(StageCharges charges) {
        synchronized (this) {
            left = true;
            refused = true;
            counted = true;
        }
        try {
            charges.refund();
        } finally {
            release();
        }
    }

    private void add(StageCharges charges) {
        dependsOnStatus |= charges.rules().dependent();
        holds |= charges.holds();
        boolean late;
        synchronized (this) {
            if (stages.isEmpty()) {
                stages = List.of(charges);
            } else {
                List<StageCharges> all = new ArrayList<>(stages);
                all.add(charges);
                stages = all;
            }
            late = released;
        }
        // not when the request is counted, which may be at its end
        charges.countHeld(outcomes);
        if (late) {
            charges.release();
        }
    }

    /** Those of these policies that no earlier stage has met, whether it charged them or not. */
    List<String> notMet(List<String> policies) {
        return policies.stream()
                .filter(policy ->
                        stages.stream().noneMatch(stage -> stage.rules().meet(policy)))
                .toList();
    }

    /** What the request was charged at each stage. */
    public List<StageCharges> stages() {
        return stages;
    }

    /** Whether the call of the handler is still to be charged. */
    public boolean callFollows() {
        return callFollows;
    }

    /** Notes that a handler is about to be called. If that is not the first time, the call follows once more. */
    public void expectCall(Method handler) {
        callFollows |= handler.equals(admittedCall);
    }

    /** Lets the call of the handler pass if it was charged before, and admitted; returns whether it was. */
    boolean passAgain(Method handler) {
        boolean again = handler.equals(admittedCall) && !refused;
        callFollows &= !again;
        return again;
    }

    /** Begins the call of the handler. */
    void enterCall(RequestContext called) {
        callFollows = false;
        context = called;
    }

    /**
     * Lets the request pass the call of the handler, or refuses it.
     *
     * @param handler the method that is called
     * @param fallback whether another method answers the request if the call is refused, so that the request stays
     *     charged
     * @return completed when the limits are known that its answer shows
     */
    CompletableFuture<?> passCall(Method handler, StageCharges charges, boolean admitted, boolean fallback) {
        admittedCall = admitted ? handler : null;
        return fallback ? passAnswered(charges, admitted) : pass(charges, admitted);
    }

    /** Lets a request pass that somebody answers whatever the limits say, so that it stays charged if they refuse. */
    CompletableFuture<?> passAnswered(StageCharges charges, boolean admitted) {
        if (isGone()) {
            return pass(charges, admitted);
        }
        if (admitted) {
            add(charges);
        } else {
            charges.countRefused(outcomes, context);
        }
        countAdmitted();
        return StageCharges.DONE;
    }

    /** Refuses the request and refunds what earlier stages charged. */
    private CompletableFuture<?> refuse(StageCharges charges) {
        List<StageCharges> before = close() ? stages : List.of();
        add(charges);
        refused = true;
        counted = true;
        List<CompletableFuture<?>> updates = new ArrayList<>(before.size());
        atEach(before, stage -> updates.add(stage.giveBack()));
        charges.countRefused(outcomes, context);
        return updates.isEmpty()
                ? StageCharges.DONE
                : CompletableFuture.allOf(updates.toArray(CompletableFuture[]::new));
    }

    /** Whether the request was refused. */
    public boolean isRefused() {
        return refused;
    }

    /**
     * Goes on when something is complete: now, or when the request is charged again, until when it waits.
     *
     * @param over as in a wait
     */
    void goOn(Place place, StageCharges charges, CompletableFuture<?> over, Runnable next) {
        if (over.isDone()) {
            next.run();
            return;
        }
        boolean late;
        synchronized (this) {
            wait = new Wait(place, charges, over, next);
            late = gone;
        }
        if (late) {
            leave();
        }
    }

    /** Whether the request waits, for its permits, its refusal or a store, so that it cannot be answered yet. */
    public synchronized boolean isWaiting() {
        return wait != null && !left;
    }

    /** Whether the request waits at this place, or waited there when its client left. */
    synchronized boolean isWaitingAt(Place place) {
        return wait != null && wait.place().equals(place);
    }

    /** Runs the task when the request is to be charged again because its wait is over, unless its client has left. */
    public void whenOver(Runnable task) {
        Wait waiting = wait;
        if (waiting != null) {
            CompletableFuture<?> unused = waiting.over().whenComplete((decision, failure) -> {
                if (isWaiting()) {
                    task.run();
                }
            });
        }
    }

    /** Ends the wait: the request is admitted or refused now, or waits for something else. */
    void endWait() {
        Wait waiting = wait;
        if (waiting == null) {
            return;
        }
        // before it ends: if the clock fails, the request leaves and gives back what it got
        waiting.charges().endWait();
        if (stopWaiting()) {
            waiting.next().run();
        }
    }

    /** Returns whether the request waited until now: its wait has not ended before, and its client has not left. */
    private synchronized boolean stopWaiting() {
        boolean waits = wait != null && !left;
        wait = left ? wait : null;
        return waits;
    }

    /**
     * Ends the wait of a request whose client has left, if it still waits: it gets no permits, and does not hold any. If
     * another thread is just charging the request, that gets none, either. Idempotent.
     */
    public void leave() {
        Wait waiting;
        synchronized (this) {
            gone = true;
            waiting = wait;
            if (waiting == null || left) {
                return;
            }
            left = true;
            refused = true;
            counted = true;
        }
        if (!waiting.over().cancel(false)) {
            waiting.charges().refundLate(waiting.over());
        }
        release();
    }

    /** Whether it has ended without an answer: whoever goes on with the request all the same has to charge it anew. */
    public synchronized boolean hasLeft() {
        return left;
    }

    /** Writes the caller's budgets to response headers; returns the names of those that it has now, or may get later. */
    public List<String> writeHeaders(WebResponse response) {
        List<String> written = refusals.writeHeaders(stages, context, response);
        return callFollows ? refusals.headers() : written;
    }

    /**
     * Answers the refused request.
     *
     * @param response not committed yet
     * @throws IOException if the response cannot be written
     */
    public void writeRefusal(WebResponse response) throws IOException {
        if (!left) {
            refusals.write(refusals.refusal(stages.get(stages.size() - 1)), stages, context, response);
        }
    }

    /** Counts the request as admitted, once, when no later stage can refuse it. */
    public void countAdmitted() {
        if (!counted && !isWaiting()) {
            counted = true;
            for (int i = 0; i < stages.size(); i++) {
                stages.get(i).countAdmitted(outcomes, context);
            }
        }
    }

    /** Whether the charge depends on the status of the response, so that it must be settled. */
    public boolean dependsOnStatus() {
        return dependsOnStatus;
    }

    /** Whether the request may hold permits until it is complete. */
    public boolean holds() {
        return holds;
    }

    /** Returns the permits that the request holds, or would hold from now on. Idempotent; may be called by any thread. */
    public void release() {
        List<StageCharges> all;
        synchronized (this) {
            released = true;
            all = stages;
        }
        atEach(all, StageCharges::release);
    }

    /** Does the same at each stage, also if it fails at one of them. */
    private static void atEach(List<StageCharges> stages, Consumer<StageCharges> task) {
        if (!stages.isEmpty()) {
            try {
                task.accept(stages.get(0));
            } finally {
                atEach(stages.subList(1, stages.size()), task);
            }
        }
    }

    /**
     * The charges so far whose permits do not count requests, for the application to settle at their actual cost;
     * {@code null} if there are none.
     */
    public @Nullable Reservation reservation() {
        Reservation all = null;
        for (int i = 0; i < stages.size(); i++) {
            Reservation one = stages.get(i).settleable();
            if (one != null) {
                all = all == null ? one : all.and(one);
            }
        }
        return all;
    }

    /** Whether a conditional or range request can turn another status into this one, so that both must be free. */
    public static boolean mayStandForAnother(int status) {
        return FreeStatuses.standsForAnother(status);
    }

    /**
     * Makes all charges final.
     *
     * @return whether they were not final before; only the caller that gets {@code true} may settle them
     */
    public synchronized boolean close() {
        boolean first = !closed;
        closed = true;
        return first;
    }

    /** Refunds all charges, unless they are final. */
    public void refund() {
        if (close()) {
            atEach(stages, StageCharges::refund);
        }
    }

    /** Refunds the charges that are free for all these statuses, unless they are final. */
    public void settle(List<Integer> statuses) {
        if (close()) {
            atEach(stages, stage -> stage.settle(statuses));
        }
    }
}
