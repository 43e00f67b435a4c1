package dev.ratelimit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Taken permits that can be settled. The first call of {@link #commit}, {@link #settle} or {@link #refund} settles the
 * reservation; later calls have no effect. Thread-safe. A reservation that is never settled stays charged.
 */
public final class Reservation {

    /** How often to try to charge the remaining permits while other callers charge, too. */
    private static final int ATTEMPTS = 16;

    private final RateLimitStore store;
    private final Decision decision;
    private final AtomicBoolean settled;

    Reservation(RateLimitStore store, Decision decision) {
        this.store = store;
        this.decision = decision;
        this.settled = new AtomicBoolean(!decision.admitted());
    }

    /** The decision. A refused reservation holds nothing and counts as settled. */
    public Decision decision() {
        return decision;
    }

    /** Whether the charges were taken. */
    public boolean admitted() {
        return decision.admitted();
    }

    /** Keeps the charges. Returns whether this call settled the reservation. */
    @CanIgnoreReturnValue
    public boolean commit() {
        return settled.compareAndSet(false, true);
    }

    /**
     * Refunds the charges, as far as they are still charged. Returns whether this call settled the reservation.
     *
     * @throws StoreUnavailableException if the store cannot refund; the reservation is then settled
     */
    @CanIgnoreReturnValue
    public boolean refund() {
        return settle(0);
    }

    /**
     * Settles each charge at its actual cost. If the cost is lower than the reservation, the rest is refunded, as far
     * as it is still charged. If it is higher, the difference is charged as far as all limits of the policy still have
     * permits: no budget falls below zero, and nothing is refused. A charge of 0 permits, which only asked, is charged
     * this cost as well: so a call whose cost is unknown beforehand can be admitted first and pay afterwards.
     *
     * @param actual permits, 0 or more
     * @return whether this call settled the reservation
     * @throws IllegalArgumentException if {@code actual} is negative
     * @throws StoreUnavailableException if the store cannot settle all charges; the reservation is settled and the
     *     others are, too: one charge that fails does not prevent a refund
     */
    @CanIgnoreReturnValue
    public boolean settle(long actual) {
        if (actual < 0) {
            throw new IllegalArgumentException("actual must be at least 0 but was " + actual);
        }
        if (!settled.compareAndSet(false, true)) {
            return false;
        }
        List<Charge> excess = new ArrayList<>();
        List<Runnable> steps = new ArrayList<>();
        for (Charge charge : decision.charges()) {
            if (charge.permits() > actual) {
                excess.add(charge.policy().charge(charge.key(), charge.permits() - actual));
            } else if (charge.permits() < actual) {
                Charge more = charge.policy().charge(charge.key(), actual - charge.permits());
                steps.add(() -> chargeWhatIsLeft(more));
            }
        }
        if (!excess.isEmpty()) {
            steps.add(0, () -> store.refund(decision, excess));
        }
        runAll(steps);
        return true;
    }

    /** Runs all steps, and then throws the first failure with the others suppressed. */
    private static void runAll(List<Runnable> steps) {
        RuntimeException first = null;
        for (Runnable step : steps) {
            try {
                step.run();
            } catch (RuntimeException e) {
                if (first == null) {
                    first = e;
                } else if (first != e) {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }

    private void chargeWhatIsLeft(Charge more) {
        Charge wanted = more;
        for (int i = 0; i < ATTEMPTS && wanted.permits() > 0 && !store.tryCharge(wanted); i++) {
            long left = store.peek(List.of(wanted)).limits().stream()
                    .mapToLong(LimitStatus::remaining)
                    .min()
                    .orElse(0);
            wanted = more.policy().charge(more.key(), Math.min(more.permits(), left));
        }
    }
}
