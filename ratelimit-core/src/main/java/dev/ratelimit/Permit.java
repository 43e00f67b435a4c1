package dev.ratelimit;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The answer to a reservation, and the right to give it back. Settled exactly once, by whichever of {@link #commit} and
 * {@link #refund} comes first; safe for concurrent use. A permit that nobody settles stays charged.
 */
public final class Permit {

    private final RateLimitStore store;
    private final List<Charge> charges;
    private final Decision decision;
    private final AtomicBoolean settled;

    Permit(RateLimitStore store, List<Charge> charges, Decision decision) {
        this.store = store;
        this.charges = charges;
        this.decision = decision;
        this.settled = new AtomicBoolean(!decision.admitted());
    }

    /** The answer; a refused permit holds nothing and counts as settled. */
    public Decision decision() {
        return decision;
    }

    /** Whether the charges were taken. */
    public boolean admitted() {
        return decision.admitted();
    }

    /** Leaves the charges taken for good. Returns whether this call settled the permit. */
    public boolean commit() {
        return settled.compareAndSet(false, true);
    }

    /** Gives the charges back, as far as they are still charged. Returns whether this call settled the permit. */
    public boolean refund() {
        boolean first = settled.compareAndSet(false, true);
        if (first) {
            store.refund(charges, decision);
        }
        return first;
    }
}
