package dev.ratelimit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Predicate;

/**
 * Taken permits that can be settled. The first call of {@link #commit}, {@link #settle} or {@link #refund} settles the
 * reservation; later calls have no effect. A {@link #part} can be settled on its own, before or after the rest: each
 * charge is settled once. Thread-safe. A reservation that is never settled stays charged.
 */
public final class Reservation {

    /** How often to try to charge the remaining permits while other callers charge, too. */
    private static final int ATTEMPTS = 16;

    private final RateLimitStore store;
    private final Decision decision;

    /** 1 for each charge of the decision that is settled; all parts share it. */
    private final AtomicIntegerArray settled;

    private final Predicate<Charge> covers;

    private Reservation(RateLimitStore store, Decision decision, AtomicIntegerArray settled, Predicate<Charge> covers) {
        this.store = store;
        this.decision = decision;
        this.settled = settled;
        this.covers = covers;
    }

    /**
     * {@return a reservation of what a decision took} Only one reservation of a decision may be settled.
     *
     * @param store the store that decided
     * @param decision admitted or refused; not a peek, which took nothing
     */
    public static Reservation of(RateLimitStore store, Decision decision) {
        int charges = decision.admitted() ? decision.charges().size() : 0;
        return new Reservation(store, decision, new AtomicIntegerArray(charges), charge -> true);
    }

    /** {@return the decision} A refused reservation holds nothing and counts as settled. */
    public Decision decision() {
        return decision;
    }

    /** {@return whether the charges were taken} */
    public boolean admitted() {
        return decision.admitted();
    }

    /**
     * {@return the part of this reservation with these charges only} Settling it leaves the others open; settling the
     * whole later does not settle these again. It may have no charges; settling it then has no effect.
     *
     * @param charges tells which of {@link Decision#charges} belong to the part, whenever it is settled
     */
    public Reservation part(Predicate<Charge> charges) {
        return new Reservation(store, decision, settled, covers.and(charges));
    }

    /**
     * {@return the part with the charges to the policy of this name}
     *
     * @param name whose charges; without any, settling the part has no effect
     */
    public Reservation forPolicy(String name) {
        return part(charge -> charge.policy().name().equals(name));
    }

    /**
     * Keeps the charges.
     *
     * @return whether this call settled any of them
     */
    @CanIgnoreReturnValue
    public boolean commit() {
        return !takeOpen().isEmpty();
    }

    /**
     * Refunds the charges, as far as they are still charged.
     *
     * @return whether this call settled any of them
     * @throws RuntimeException if the store throws; the reservation is settled nevertheless
     */
    @CanIgnoreReturnValue
    public boolean refund() {
        return settle(0);
    }

    /** The charges that were not settled before, which this call settles. */
    private List<Charge> takeOpen() {
        List<Charge> open = new ArrayList<>(settled.length());
        for (int i = 0; i < settled.length(); i++) {
            Charge charge = decision.charges().get(i);
            if (covers.test(charge) && settled.compareAndSet(i, 0, 1)) {
                open.add(charge);
            }
        }
        return open;
    }

    /**
     * Settles each charge at its actual cost. If the cost is lower than the reservation, the rest is refunded, as far
     * as it is still charged. If it is higher, the difference is charged as far as all limits of the policy still have
     * permits: no budget falls below zero, and nothing is refused. A charge of 0 permits, which only asked, is charged
     * this cost as well: so a call whose cost is unknown beforehand can be admitted first and pay afterwards.
     *
     * @param actual permits, 0 or more
     * @return whether this call settled any of the charges
     * @throws IllegalArgumentException if {@code actual} is negative
     * @throws StoreUnavailableException if the store cannot charge a higher cost; the reservation is settled, and so
     *     are the other charges: one charge that fails does not prevent a refund
     */
    @CanIgnoreReturnValue
    public boolean settle(long actual) {
        if (actual < 0) {
            throw new IllegalArgumentException("actual must be at least 0 but was " + actual);
        }
        List<Charge> open = takeOpen();
        List<Charge> excess = new ArrayList<>();
        List<Runnable> steps = new ArrayList<>();
        for (Charge charge : open) {
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
        return !open.isEmpty();
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
