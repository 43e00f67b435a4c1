package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * All limits of some charges, locked together: decisions over them happen at one moment, and an exception leaves
 * nothing locked and no partial charge.
 *
 * <p>Slots are locked in a fixed order, so that two transactions never wait for each other: those of the newest
 * keyspace first, so that shared budgets, such as a global one, are held for the shortest time. Used by one thread at a
 * time, and by another after {@link #clear}.
 */
final class Transaction {

    enum Task {
        CHARGE,
        DECIDE,
        PEEK,
        REFUND,
        RESET
    }

    private static final Comparator<Claim> IN_ORDER_OF_LOCKING = Claim::inOrderOfLocking;

    private static final Receipt NONE = new Receipt(List.of());

    /** The maximum number of claims of a transaction that is kept for later. */
    private static final int KEPT_CLAIMS = 32;

    /** How often keys are added that disappear before they are charged; then the overflow is charged. */
    private static final int ATTEMPTS = 16;

    /** In the order of the charges; those from {@link #count} on are reused later. */
    private Claim[] claims = {};

    /** The same claims in the order of locking. */
    private Claim[] order = {};

    private int count;
    private final Moment moment;
    private boolean wallClock;

    /** The requested decision, or the one to refund. */
    private Receipt receipt = NONE;

    Transaction(StoreClock clock) {
        this.moment = new Moment(clock);
    }

    /** Whether it is small enough to be kept for later. */
    boolean small() {
        return claims.length <= KEPT_CLAIMS;
    }

    /** Releases everything, including the tables, each of which leads to all later ones. */
    void clear() {
        for (int i = 0; i < count; i++) {
            claims[i].clear();
        }
        count = 0;
        receipt = NONE;
    }

    void add(Charge charge, List<Keyspace> keyspaces) {
        List<LimitAlgorithm> limits = charge.policy().algorithms();
        long hash = KeyHash.of(charge.key());
        for (int i = 0; i < limits.size(); i++) {
            add(charge, limits.get(i), keyspaces.get(charge.policy().rank(i)), hash);
        }
    }

    private void add(Charge charge, LimitAlgorithm limit, Keyspace keyspace, long hash) {
        if (count == claims.length) {
            int more = Math.max(4, 2 * count);
            claims = Arrays.copyOf(claims, more);
            order = Arrays.copyOf(order, more);
            for (int i = count; i < more; i++) {
                claims[i] = new Claim();
            }
        }
        claims[count].set(charge, limit, keyspace, hash);
        count++;
    }

    /** Adds a charge to refund, whose limits have numbers from this one on in its receipt. */
    void addPaid(Charge charge, List<Keyspace> keyspaces, Receipt paid, int number) {
        int first = count;
        add(charge, keyspaces);
        for (int i = first; i < count; i++) {
            if (paid.paidByOverflow(number + i - first)) {
                claims[i].turnToOverflow();
            }
        }
    }

    /** Charges all or nothing. */
    boolean tryCharge() {
        return run(Task.CHARGE);
    }

    /** Charges all or nothing, and returns the status of each limit. A {@link StackTransaction} may have tried before. */
    Decision decide(Receipt wanted) {
        receipt = wanted;
        boolean admitted = run(Task.DECIDE);
        return receipt.decision(admitted, admitted);
    }

    /** Returns what {@link #decide} would. */
    Decision peek(List<Charge> charges) {
        receipt = new Receipt(charges);
        return receipt.decision(run(Task.PEEK), false);
    }

    /** Refunds a decision. If a limit has changed since, it stays changed, and is refunded in proportion. */
    void refund(Receipt paid) {
        receipt = paid;
        run(Task.REFUND);
    }

    /** Resets the keys to full budgets. */
    void reset() {
        run(Task.RESET);
    }

    private boolean run(Task task) {
        for (int attempt = 0; ; attempt++) {
            Outcome outcome = attempt(task);
            if (outcome != Outcome.CONTENDED) {
                return outcome == Outcome.ADMITTED;
            }
            makePlaces(attempt);
        }
    }

    /** {@link Outcome#CONTENDED}, with nothing charged, if room must be made first. */
    private Outcome attempt(Task task) {
        try {
            lock(task);
            Outcome outcome = task == Task.REFUND || task == Task.RESET ? rewrite(task) : decide(task);
            Draft.publish(order, count);
            for (int i = 0; i < count; i++) {
                order[i].unlock();
            }
            return outcome;
        } catch (Throwable thrown) {
            try {
                takeBack();
            } finally {
                // without a call, because there may be no stack for it
                for (int i = 0; i < count; i++) {
                    Claim claim = claims[i];
                    Table table = claim.table;
                    if (claim.held && table != null) {
                        claim.held = false;
                        Slots.unlocking = ~Table.LOCK;
                        table.longs[claim.slot] &= Slots.unlocking;
                    }
                }
            }
            throw thrown;
        }
    }

    private Outcome decide(Task task) {
        boolean admitted = true;
        boolean onlyChanged = true;
        for (int i = 0; i < count; i++) {
            boolean admits = order[i].admits();
            admitted &= admits;
            onlyChanged &= admits || order[i].changed();
        }
        if (task != Task.PEEK) {
            if (!admitted) {
                refuse(onlyChanged);
            }
            for (int i = 0; i < count; i++) {
                if (order[i].lacksPlace(admitted)) {
                    return Outcome.CONTENDED;
                }
            }
            draft(admitted);
        }
        if (task != Task.CHARGE) {
            tell(admitted);
        }
        return admitted ? Outcome.ADMITTED : Outcome.REFUSED;
    }

    /** Notes what to write although the charges are refused; the penalty of a policy starts if one of its limits refuses. */
    private void refuse(boolean onlyChanged) {
        for (int first = 0, after; first < count; first = after) {
            boolean refuses = false;
            after = first + claims[first].limits();
            for (int i = first; i < after; i++) {
                refuses |= claims[i].refuses(onlyChanged);
            }
            for (int i = first; refuses && i < after; i++) {
                claims[i].penalize();
            }
        }
    }

    private void draft(boolean admitted) {
        for (int i = 0; i < count; i++) {
            if (admitted) {
                order[i].draftCharge();
            } else {
                order[i].draftRefusal();
            }
        }
        for (int i = 0; admitted && i < count; i++) {
            order[i].chargeInPlace();
        }
    }

    private void takeBack() {
        for (int i = 0; i < count; i++) {
            claims[i].takeBack();
        }
    }

    private Outcome rewrite(Task task) {
        for (int i = 0; i < count; i++) {
            if (task == Task.RESET) {
                claims[i].draftReset();
            } else {
                claims[i].draftRefund(receipt, moment);
            }
        }
        return Outcome.ADMITTED;
    }

    /** Finds the known keys, locks them, and only then reads the clock. */
    private void lock(Task task) {
        do {
            for (int i = 0; i < count; i++) {
                claims[i].locate();
            }
            System.arraycopy(claims, 0, order, 0, count);
            Arrays.sort(order, 0, count, IN_ORDER_OF_LOCKING);
        } while (!tryLock());
        wallClock = false;
        for (int i = 0; i < count; i++) {
            wallClock |= claims[i].wallClock();
        }
        moment.read(wallClock);
        for (int i = 0; i < count; i++) {
            if (task == Task.REFUND || task == Task.RESET) {
                order[i].readAsWritten(moment);
            } else {
                order[i].read(moment);
            }
        }
    }

    private boolean tryLock() {
        boolean all = true;
        for (int i = 0; all && i < count; i++) {
            all = order[i].lock(i == 0 ? null : order[i - 1]);
        }
        for (int i = 0; all && i < count; i++) {
            all = !claims[i].nowExists();
        }
        for (int i = 0; !all && i < count; i++) {
            order[i].unlock();
        }
        return all;
    }

    /** Makes room for the charge: adds unknown keys, and room for limits that are new to a table. */
    private void makePlaces(int attempt) {
        long[] own = new long[count];
        for (int i = 0; i < count; i++) {
            own[i] = claims[i].hash;
        }
        Arrays.sort(own);
        // keys that must be there together: none is evicted for another
        LongPredicate kept = hash -> Arrays.binarySearch(own, hash) >= 0;
        for (int i = 0; i < count; i++) {
            claims[i].makePlace(kept, attempt < ATTEMPTS);
        }
    }

    private void tell(boolean admitted) {
        receipt.at(moment, wallClock);
        for (int i = 0; i < count; i++) {
            receipt.tell(i, claims[i].status(admitted), claims[i].paidByOverflow());
        }
    }
}
