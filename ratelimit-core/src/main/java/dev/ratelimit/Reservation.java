package dev.ratelimit;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Taken permits that can be settled. The first call of {@link #commit}, {@link #settle} or {@link #refund} settles the
 * reservation; later calls have no effect. A {@link #part} can be settled on its own, before or after the rest: each
 * charge is settled once. Thread-safe. A reservation that is never settled stays charged.
 */
public final class Reservation {

    /** How often to try to charge the remaining permits while other callers charge, too. */
    private static final int ATTEMPTS = 16;

    /** Held for a moment by whoever settles: reservations may share charges, and each is settled as a whole. */
    private static final Object SETTLING = new Object();

    /**
     * What one decision took.
     *
     * @param settled the indexes of the settled charges; all parts share it
     * @param covers the charges that belong to the reservation
     */
    private record Taken(RateLimitStore store, Decision decision, BitSet settled, Predicate<Charge> covers) {

        private BitSet covered() {
            BitSet covered = new BitSet();
            if (decision.admitted()) {
                for (int i = 0; i < decision.charges().size(); i++) {
                    covered.set(i, covers.test(decision.charges().get(i)));
                }
            }
            return covered;
        }

        /** Settles these charges; returns those that were not settled before. */
        private List<Charge> settle(BitSet covered) {
            covered.andNot(settled);
            settled.or(covered);
            return covered.stream().mapToObj(decision.charges()::get).toList();
        }
    }

    private final Decision decision;
    private final List<Taken> taken;

    private Reservation(Decision decision, List<Taken> taken) {
        this.decision = decision;
        this.taken = taken;
    }

    /** Initializes the class now: in a call, there may be no stack for it, and then it could never be used. */
    static void initialize() {}

    /**
     * {@return a reservation of what a decision took} Only one reservation of a decision may be settled.
     *
     * @param store the store that decided
     * @param decision admitted or refused; not a peek, which took nothing
     */
    public static Reservation of(RateLimitStore store, Decision decision) {
        return new Reservation(decision, List.of(new Taken(store, decision, new BitSet(), charge -> true)));
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
        return new Reservation(
                decision,
                taken.stream()
                        .map(one -> new Taken(one.store, one.decision, one.settled, one.covers.and(charges)))
                        .toList());
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
     * This reservation and another one, to be settled together.
     *
     * @param other whose charges are settled as well
     * @return a reservation whose decision has the charges and limits of both, and no receipt
     */
    public Reservation and(Reservation other) {
        Decision both = new Decision(
                decision.admitted() && other.decision.admitted(),
                concat(decision.charges(), other.decision.charges()),
                concat(decision.limits(), other.decision.limits()),
                null);
        return new Reservation(both, concat(taken, other.taken));
    }

    private static <T> List<T> concat(List<T> some, List<T> others) {
        return Stream.concat(some.stream(), others.stream()).toList();
    }

    /**
     * Keeps the charges.
     *
     * @return whether this call settled any of them
     */
    @CanIgnoreReturnValue
    public boolean commit() {
        return takeOpen().stream().anyMatch(open -> !open.isEmpty());
    }

    /** The charges of each decision that were not settled before, which this call settles, all at once. */
    private List<List<Charge>> takeOpen() {
        List<BitSet> covered = taken.stream().map(Taken::covered).toList();
        List<List<Charge>> open = new ArrayList<>(taken.size());
        synchronized (SETTLING) {
            for (int i = 0; i < taken.size(); i++) {
                open.add(taken.get(i).settle(covered.get(i)));
            }
        }
        return open;
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

    /**
     * Settles each charge at its actual cost. If the cost is lower than the reservation, the rest is refunded, as far
     * as it is still charged. If it is higher, the difference is charged as far as all limits of the policy still have
     * permits: no budget falls below zero, and nothing is refused. A penalty starts only if another caller takes some of
     * these permits at the same moment. A charge of 0 permits, which only asked, is charged this cost as well: so a call
     * whose cost is unknown beforehand can be admitted first and pay afterwards.
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
        boolean any = false;
        List<Runnable> refunds = new ArrayList<>();
        List<Runnable> steps = new ArrayList<>();
        List<List<Charge>> open = takeOpen();
        for (int i = 0; i < taken.size(); i++) {
            Taken one = taken.get(i);
            List<Charge> excess = new ArrayList<>();
            for (Charge charge : open.get(i)) {
                any = true;
                if (charge.permits() > actual) {
                    excess.add(charge.policy().charge(charge.key(), charge.permits() - actual));
                } else if (charge.permits() < actual) {
                    Charge more = charge.policy().charge(charge.key(), actual - charge.permits());
                    steps.add(() -> chargeWhatIsLeft(one.store, more));
                }
            }
            if (!excess.isEmpty()) {
                refunds.add(() -> one.store.refund(one.decision, excess));
            }
        }
        runAll(concat(refunds, steps));
        return any;
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

    private static void chargeWhatIsLeft(RateLimitStore store, Charge more) {
        // a refusal would start a penalty, although nobody has asked for more than there is
        boolean penalty = more.policy().penalty() != null;
        Charge wanted = penalty ? atMostWhatIsLeft(store, more) : more;
        for (int i = 0; i < ATTEMPTS && wanted.permits() > 0 && !store.tryCharge(wanted); i++) {
            wanted = atMostWhatIsLeft(store, more);
        }
    }

    private static Charge atMostWhatIsLeft(RateLimitStore store, Charge more) {
        long left = store.peek(List.of(more)).limits().stream()
                .mapToLong(LimitStatus::remaining)
                .min()
                .orElse(0);
        return more.policy().charge(more.key(), Math.min(more.permits(), left));
    }
}
