package dev.ratelimit.remote;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A decision under way: collects what servers and memory say. Used by one thread. */
final class PendingDecision {

    private final List<Charge> charges;
    private final List<Part> parts;
    private final List<Request> charged = new ArrayList<>(1);
    private final List<Charge> unanswered = new ArrayList<>(0);
    private boolean admitted = true;
    private @Nullable StoreFailure failure;
    private @Nullable Decision memory;

    PendingDecision(List<Charge> charges) {
        this.charges = charges;
        this.parts = new ArrayList<>(charges.size());
        charges.forEach(charge -> parts.add(new Part(charge)));
    }

    private Part part(Charge charge) {
        return Receipt.of(parts, charge);
    }

    /** Records the answer of a server. */
    void answered(Request sent, Answer answer) {
        if (answer.admitted()) {
            charged.add(sent);
        } else {
            admitted = false;
        }
        List<Charge> asked = sent.charges();
        List<List<LimitStatus>> statuses = answer.statuses();
        Stamp stamp = new Stamp(answer.nowMicros(), sent.stamp().id());
        for (int i = 0; i < asked.size(); i++) {
            part(asked.get(i)).decided(stamp, statuses.get(i));
        }
    }

    /** Records a server's current statuses. */
    void corrected(Request sent, Answer answer) {
        List<Charge> asked = sent.charges();
        List<List<LimitStatus>> statuses = answer.statuses();
        for (int i = 0; i < asked.size(); i++) {
            part(asked.get(i)).corrected(statuses.get(i));
        }
    }

    /** Records that a server has not answered. */
    void unanswered(Request sent, StoreFailure reason) {
        unanswered.addAll(sent.charges());
        failure = reason;
    }

    /** Why the last server that has not answered did not; {@code null} if all have. */
    @Nullable
    StoreFailure failure() {
        return failure;
    }

    /** Records the decision of memory; see {@link #decidedHere(Charge, List)} for its charges. */
    void decidedHere(Decision decision) {
        admitted &= decision.admitted();
        memory = decision;
    }

    /** Records that memory decided this charge. */
    void decidedHere(Charge charge, List<LimitStatus> statuses) {
        part(charge).decidedHere(statuses);
    }

    boolean admitted() {
        return admitted;
    }

    /** The requests that servers admitted. */
    List<Request> charged() {
        return charged;
    }

    /** The charges that no server has answered. */
    List<Charge> unanswered() {
        return unanswered;
    }

    /**
     * Caches the answers of the servers to what was asked at this moment. A key under a policy with a penalty that was
     * only found exhausted is not cached as refused: its next charge starts the penalty, on the server.
     *
     * @param charging whether charges were tried, and not only peeked at
     */
    void remember(StatusCache statusCache, long asked, boolean charging) {
        for (Part part : parts) {
            boolean refusedForGood = charging && !part.isCorrected();
            if (part.byServer() && (refusedForGood || !mayPenalize(part))) {
                statusCache.put(part.charge(), part.statuses(), asked);
            }
        }
    }

    private static boolean mayPenalize(Part part) {
        return part.charge().policy().penalty() != null
                && part.statuses().stream().anyMatch(status -> !status.admitted());
    }

    /**
     * Combines the answers into a decision.
     *
     * @param charging whether the charges are taken, and not only peeked at
     */
    Decision decision(boolean charging) {
        List<LimitStatus> statuses = new ArrayList<>(charges.size());
        for (Part part : parts) {
            statuses.addAll(part.statuses());
        }
        return new Decision(
                admitted,
                charges,
                Collections.unmodifiableList(statuses),
                new Receipt(charging && admitted, parts, memory));
    }
}
