package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.redis.Node.Sent;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * A decision in the making, out of the answers of servers and of memory. Used by one thread.
 *
 * <p>The time of a decision is the servers', or, below zero, that of memory where it alone decided.
 */
final class Round {

    private final List<Charge> charges;
    private final IdentityHashMap<Charge, List<LimitStatus>> there = new IdentityHashMap<>();
    private final IdentityHashMap<Charge, List<LimitStatus>> here = new IdentityHashMap<>();
    private final IdentityHashMap<Charge, List<LimitStatus>> leased = new IdentityHashMap<>(0);
    private final List<Sent> charged = new ArrayList<>(1);
    private final List<Charge> unanswered = new ArrayList<>(0);
    private boolean admitted = true;
    private long atNanos = -1;

    Round(List<Charge> charges) {
        this.charges = charges;
    }

    /** A server has answered. */
    void answered(Sent sent, Answer answer) {
        if (answer.admitted()) {
            charged.add(sent);
        } else {
            admitted = false;
        }
        // the latest of servers whose clocks differ: to none of them was the charge before its window began
        atNanos = Math.max(atNanos, answer.nowMicros() * 1000);
        corrected(sent, answer);
    }

    /** A server has said how it stands now. */
    void corrected(Sent sent, Answer answer) {
        there.putAll(sent.batch().statuses(answer));
    }

    /** A lease has paid this charge. */
    void paid(Charge charge, Lease lease, long nowNanos) {
        atNanos = lease.paidNanos();
        leased.put(charge, lease.statuses(nowNanos));
    }

    /** A server has not answered. */
    void unanswered(Sent sent) {
        unanswered.addAll(sent.batch().charges());
    }

    /** Memory has decided what no server has answered. */
    void decidedHere(boolean admittedHere, long nanosHere, IdentityHashMap<Charge, List<LimitStatus>> statuses) {
        admitted &= admittedHere;
        here.putAll(statuses);
        if (there.isEmpty() && leased.isEmpty()) {
            atNanos = -1 - nanosHere;
        }
    }

    /** When memory took what a decision of this time took. */
    static long nanosHere(long atNanos) {
        return -1 - atNanos;
    }

    boolean admitted() {
        return admitted;
    }

    /** What was sent and admitted. */
    List<Sent> charged() {
        return charged;
    }

    /** The charges that no server has answered. */
    List<Charge> unanswered() {
        return unanswered;
    }

    void remember(Recent recent) {
        there.forEach(recent::put);
    }

    void tell(Leases leases) {
        there.forEach(leases::asked);
    }

    Decision decision() {
        List<LimitStatus> statuses = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            for (var answers : List.of(leased, there, here)) {
                statuses.addAll(answers.getOrDefault(charge, List.of()));
            }
        }
        return new Decision(admitted, statuses, atNanos);
    }
}
