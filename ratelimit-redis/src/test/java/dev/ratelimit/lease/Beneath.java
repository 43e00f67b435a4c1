package dev.ratelimit.lease;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;

/** What the store beneath a leasing store has decided: for tests, which look at its receipts. */
public final class Beneath {

    private Beneath() {}

    /** The decision about this charge, or about the lease that has paid for it. */
    public static Decision of(Decision decision, Charge charge) {
        return decision.receipt() instanceof Payment payment ? payment.asked(decision.indexOf(charge)) : decision;
    }
}
