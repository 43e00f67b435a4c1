package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Reservation;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.WebResponse;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.FreeStatuses;
import dev.ratelimit.spring.rules.rule.Stage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request on its way through the stages, with the charges of each. The web stack keeps it with the request between
 * the stages. Used by one thread at a time; only {@link #close}, {@link #settle}, {@link #release} and
 * {@link #leave} may be called by another thread meanwhile.
 */
public final class ChargedRequest {

    private final RulesInForce rules;
    private final OutcomeCounter outcomes;
    private final RefusalWriter refusals;
    private RequestContext context;

    /** Those passed so far, at most two before the handler is called, and its call. */
    private List<StageCharges> stages = List.of();

    /** Whether the call of the handler is still to be charged. */
    private boolean callFollows;

    /** Whether a charge depends on the status of the response. */
    private boolean dependsOnStatus;

    /** Whether a stage has charged permits that the request holds until it is complete. */
    private boolean holds;

    /** What the request waits for; {@code null} if it does not wait. */
    private volatile @Nullable Wait wait;

    /** Whether the client has left while the request waited. */
    private boolean left;

    private boolean closed;
    private boolean counted;
    private boolean refused;

    /**
     * The wait of a request for its permits, or for its refusal.
     *
     * @param stage where it waits; {@code null} if there is only one
     * @param charges which are decided when it is over
     * @param over completed when it is over: with a decision, unless the request is refused
     */
    private record Wait(@Nullable Stage stage, StageCharges charges, CompletableFuture<?> over) {}

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
    RequestContext context() {
        return context;
    }

    /** Enters the next stage with the request as it is there. */
    void enter(RequestContext later) {
        context = later;
    }

    /** Lets the request pass a stage that has admitted it, or refuses it. */
    void pass(StageCharges charges, boolean admitted) {
        if (!admitted) {
            refuse(charges);
            return;
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
    }

    private void add(StageCharges charges) {
        if (stages.isEmpty()) {
            stages = List.of(charges);
        } else {
            List<StageCharges> all = new ArrayList<>(stages);
            all.add(charges);
            stages = all;
        }
        dependsOnStatus |= charges.rules().dependent();
        holds |= charges.holds();
    }

    /** What the request was charged at each stage. */
    List<StageCharges> stages() {
        return stages;
    }

    /** Whether the call of the handler is still to be charged. */
    public boolean callFollows() {
        return callFollows;
    }

    /**
     * Charges the call of the handler.
     *
     * @param fallback whether another method answers the request if the call is refused, so that the request stays
     *     charged
     * @return whether it was admitted
     */
    boolean chargeCall(RequestContext called, StageCharges charges, boolean fallback) {
        callFollows = false;
        context = called;
        boolean admitted = charges.charge();
        if (!fallback) {
            pass(charges, admitted);
            return admitted;
        }
        if (admitted) {
            add(charges);
        } else {
            charges.countRefused(outcomes);
        }
        countAdmitted();
        return admitted;
    }

    /** Refuses the request and refunds what earlier stages charged. */
    private void refuse(StageCharges charges) {
        List<StageCharges> before = close() ? stages : List.of();
        add(charges);
        refused = true;
        counted = true;
        atEach(before, StageCharges::giveBack);
        charges.countRefused(outcomes);
    }

    /** Whether the request was refused. */
    public boolean isRefused() {
        return refused;
    }

    /** Lets the request wait. */
    synchronized void beginWait(@Nullable Stage stage, StageCharges charges, CompletableFuture<?> over) {
        wait = new Wait(stage, charges, over);
    }

    /** Whether the request waits, for its permits or its refusal, so that it cannot be answered yet. */
    public synchronized boolean isWaiting() {
        return wait != null && !left;
    }

    /** Whether the request waits at this stage, or waited there when its client left. */
    synchronized boolean isWaitingAt(@Nullable Stage stage) {
        return wait != null && wait.stage() == stage;
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

    /** Ends the wait: the request is admitted or refused now. */
    void endWait() {
        Wait waiting = wait;
        if (waiting == null) {
            return;
        }
        // before it ends: if the clock fails, the request leaves and gives back what it got
        StageCharges charges = waiting.charges();
        charges.endWait();
        if (!stopWaiting()) {
            return;
        }
        if (!refused) {
            pass(charges, charges.finish(waiting.over()));
        }
        if (refused) {
            charges.refresh();
        }
    }

    /** Returns whether the request waited until now: its wait has not ended before, and its client has not left. */
    private synchronized boolean stopWaiting() {
        boolean waits = wait != null && !left;
        wait = left ? wait : null;
        return waits;
    }

    /**
     * Ends the wait of a request whose client has left, if it still waits: it gets no permits, and does not hold any.
     * Idempotent.
     */
    public void leave() {
        Wait waiting = wait;
        synchronized (this) {
            if (waiting == null || wait == null || left) {
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
            refusals.write(stages, context, response);
        }
    }

    /** Counts the request as admitted, once, when no later stage can refuse it. */
    public void countAdmitted() {
        if (!counted && !isWaiting()) {
            counted = true;
            for (int i = 0; i < stages.size(); i++) {
                stages.get(i).countAdmitted(outcomes);
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

    /** Returns the permits that the request holds. Idempotent; may be called by any thread. */
    public void release() {
        atEach(stages, StageCharges::release);
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
