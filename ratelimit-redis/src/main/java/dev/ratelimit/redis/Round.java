package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Collects the answers of servers and memory into a decision. Used by one thread. */
final class Round {

    private final List<Charge> charges;
    private final IdentityHashMap<Charge, List<LimitStatus>> there = new IdentityHashMap<>();
    private final IdentityHashMap<Charge, List<LimitStatus>> here = new IdentityHashMap<>();
    private final IdentityHashMap<Charge, List<LimitStatus>> leased = new IdentityHashMap<>(0);
    private final IdentityHashMap<Charge, Long> serverNanos;
    private final List<PendingBatch> charged = new ArrayList<>(1);
    private final List<Charge> unanswered = new ArrayList<>(0);
    private boolean admitted = true;
    private @Nullable Decision memory;

    Round(List<Charge> charges) {
        this.charges = charges;
        this.serverNanos = new IdentityHashMap<>(charges.size());
    }

    /** Records the answer of a server. */
    void answered(PendingBatch sent, Answer answer) {
        if (answer.admitted()) {
            charged.add(sent);
        } else {
            admitted = false;
        }
        for (Charge charge : sent.batch().charges()) {
            serverNanos.put(charge, answer.nowMicros() * 1000);
        }
        corrected(sent, answer);
    }

    /** Records a server's current statuses. */
    void corrected(PendingBatch sent, Answer answer) {
        there.putAll(sent.batch().statuses(answer));
    }

    /** Records that this charge was spent from a lease. */
    void paid(Charge charge, Lease lease, long nowNanos) {
        serverNanos.put(charge, lease.paidNanos());
        leased.put(charge, lease.statuses(charge, nowNanos));
    }

    /** Records that a server has not answered. */
    void unanswered(PendingBatch sent) {
        unanswered.addAll(sent.batch().charges());
    }

    /** Records the decision of memory on the unanswered charges. */
    void decidedHere(Decision decision, IdentityHashMap<Charge, List<LimitStatus>> statuses) {
        admitted &= decision.admitted();
        memory = decision;
        here.putAll(statuses);
    }

    boolean admitted() {
        return admitted;
    }

    /** The batches that servers admitted. */
    List<PendingBatch> charged() {
        return charged;
    }

    /** The charges that no server has answered. */
    List<Charge> unanswered() {
        return unanswered;
    }

    /** Caches the answers of the servers to what was asked at this moment. */
    void remember(AnswerCache answerCache, long asked) {
        there.forEach((charge, statuses) -> answerCache.put(charge, statuses, asked));
    }

    void tell(Leases leases) {
        there.forEach(leases::asked);
    }

    /**
     * Combines the answers into a decision.
     *
     * @param charging whether the charges are taken, and not only peeked at
     */
    Decision decision(boolean charging) {
        List<LimitStatus> statuses = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            for (var answers : List.of(leased, there, here)) {
                statuses.addAll(answers.getOrDefault(charge, List.of()));
            }
        }
        return new Decision(admitted, charges, Collections.unmodifiableList(statuses), receipt(charging && admitted));
    }

    private Receipt receipt(boolean taken) {
        return new Receipt(taken, serverNanos, Set.copyOf(here.keySet()), memory);
    }
}
