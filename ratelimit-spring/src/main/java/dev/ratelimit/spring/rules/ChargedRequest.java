package dev.ratelimit.spring.rules;

import dev.ratelimit.Reservation;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.WebResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A request on its way through the stages, with the charges of each. The web stack keeps it with the request between
 * the stages. Used by the request's thread; only {@link #close}, {@link #settle} and
 * {@link #release} may be called by another thread.
 */
public final class ChargedRequest {

    private final RulesInForce rules;
    private final OutcomeCounter outcomes;
    private final RefusalWriter refusals;
    private RequestContext context;

    /** Those passed so far, at most two before the handler is called, and its call. */
    private List<StageCharges> stages = List.of();

    /** Whether the call of the handler will be charged, too. */
    private boolean awaitsCall;

    private boolean closed;
    private boolean counted;
    private boolean refused;

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

    /** Charges the request to the rules of its stage, and refuses it if one of them does. */
    void charge(StageCharges charges, boolean last) {
        boolean admitted = charges.charge();
        if (!admitted) {
            refuse(charges);
            return;
        }
        if (charges.exempt() != StageCharges.NO_EXEMPTION) {
            // earlier stages could not know this
            stages.forEach(stage -> stage.exempt(charges.exempt()));
        }
        add(charges);
        if (last) {
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
    }

    /** What the request was charged at each stage. */
    List<StageCharges> stages() {
        return stages;
    }

    /** Leaves the request open until its handler is called, or has not been called. */
    void awaitCall() {
        awaitsCall = true;
    }

    /** Whether the call of the handler is still to be charged. */
    public boolean awaitsCall() {
        return awaitsCall;
    }

    /**
     * Charges the call of the handler.
     *
     * @param fallback whether another method answers the request if the call is refused, so that the request stays
     *     charged
     * @return whether it was admitted
     */
    boolean chargeCall(RequestContext called, StageCharges charges, boolean fallback) {
        awaitsCall = false;
        context = called;
        if (!fallback) {
            charge(charges, true);
            return !refused;
        }
        boolean admitted = charges.charge();
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
        if (close() && !stages.isEmpty()) {
            stages.forEach(StageCharges::giveBack);
        }
        add(charges);
        refused = true;
        counted = true;
        charges.countRefused(outcomes);
    }

    /** Whether the request was refused. */
    public boolean isRefused() {
        return refused;
    }

    /** Writes the caller's budgets to response headers; returns whether there are any, or may be later. */
    public boolean writeHeaders(WebResponse response) {
        return refusals.writeHeaders(stages, context, response) || awaitsCall;
    }

    /**
     * Answers the refused request.
     *
     * @param response not committed yet
     * @throws IOException if the response cannot be written
     */
    public void writeRefusal(WebResponse response) throws IOException {
        refusals.write(stages, context, response);
    }

    /** Counts the request as admitted, once, when no later stage can refuse it. */
    public void countAdmitted() {
        if (!counted) {
            counted = true;
            for (int i = 0; i < stages.size(); i++) {
                stages.get(i).countAdmitted(outcomes);
            }
        }
    }

    /** Whether the charge depends on the status of the response, so that it must be settled. */
    public boolean dependsOnStatus() {
        return anyStage(StageCharges::dependsOnStatus);
    }

    private boolean anyStage(Predicate<StageCharges> condition) {
        for (int i = 0; i < stages.size(); i++) {
            if (condition.test(stages.get(i))) {
                return true;
            }
        }
        return false;
    }

    /** Whether the request holds permits until it is complete. */
    public boolean holds() {
        return anyStage(StageCharges::holds);
    }

    /** Returns the permits that the request holds. Idempotent; may be called by any thread. */
    public void release() {
        for (int i = 0; i < stages.size(); i++) {
            stages.get(i).release();
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

    /** Refunds the charges that are free for all these statuses, unless they are final. */
    public void settle(List<Integer> statuses) {
        if (close()) {
            stages.forEach(stage -> stage.settle(statuses));
        }
    }
}
