package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Ticker;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/** What a decision has spent from leases. Used by one thread at a time. */
final class Payment {

    private final Leases from;
    private final Ticker ticker;
    private final IdentityHashMap<Charge, Lease> paid = new IdentityHashMap<>();

    Payment(Leases from, Ticker ticker) {
        this.from = from;
        this.ticker = ticker;
    }

    /** Returns the charges that no lease has paid for. */
    List<Charge> pay(PendingDecision pending, List<Charge> charges) {
        List<Charge> rest = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            Lease lease = charge.permits() == 0 ? null : from.pay(charge);
            if (lease == null) {
                rest.add(charge);
            } else {
                paid.put(charge, lease);
                pending.paid(charge, lease, ticker.nanos());
            }
        }
        return rest;
    }

    void giveBack() {
        paid.forEach((charge, lease) -> from.giveBack(lease, charge));
    }
}
