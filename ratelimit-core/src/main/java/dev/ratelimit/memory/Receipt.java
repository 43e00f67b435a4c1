package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitState;
import dev.ratelimit.LimitStatus;
import java.util.AbstractList;
import java.util.BitSet;
import java.util.List;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/**
 * Collects the time of a decision, and the status of each limit. Afterwards it is the receipt of the decision, from
 * which a refund gets the time of the charges and the charged budgets. Used by one thread until then, and immutable
 * afterwards; a final field of the decision publishes it.
 */
final class Receipt extends Collector {

    private static final long[] NO_WORD = {};

    private final List<Charge> charges;
    private final LimitStatus[] limits;

    /** The number of previous limits without a status; they come from the last to the first, and then back. */
    private int next;

    /** Whether a limit has refused, so that the others are only asked. */
    private boolean refused;

    /** The time of the decision, on the store's two timelines. */
    private long nanos;

    private long epochNanos;
    private boolean epochRead;

    /** The numbers of the limits that the overflow was charged for; {@code null} if there are none. */
    private @Nullable BitSet fromOverflow;

    /** A state of one long after its charge, which is not yet written to the table; empty if there is only one limit. */
    private final long[] word;

    Receipt(List<Charge> charges) {
        super(0);
        this.charges = charges;
        int count = 0;
        for (int i = 0; i < charges.size(); i++) {
            count += charges.get(i).policy().limits().size();
        }
        this.limits = new LimitStatus[count];
        this.next = count;
        this.word = count > 1 ? new long[1] : NO_WORD;
    }

    /** The charges to decide. */
    List<Charge> charges() {
        return charges;
    }

    @Override
    boolean refused() {
        return refused;
    }

    @Override
    boolean asksOn() {
        return true;
    }

    /**
     * Charges a locked state, unless a limit has refused before, and records its status.
     *
     * @return meaningless after a limit has refused
     */
    @Override
    long charged(Table table, int slot, Charge charge, LimitAlgorithm limit, long now) {
        next--;
        if (refused) {
            return table.admits(slot, limit, charge.permits(), now) ? 0 : LimitAlgorithm.REFUSED;
        }
        long charged = super.charged(table, slot, charge, limit, now);
        if (charged == LimitAlgorithm.REFUSED) {
            refused = true;
        } else {
            // the only limit's charge is not reverted once it has admitted
            boolean beside = limit.stateSize() == 1 && word.length > 0;
            long[] state = beside ? word : table.longs;
            int at = beside ? 0 : slot + 1;
            state[at] = charged;
            limits[next] = new LimitState(limit, state, at).admitted(charge, now);
        }
        return charged;
    }

    /** Records the status of a locked state that is not charged after all; from the first limit to the last. */
    @Override
    void notCharged(Outcome outcome, Table table, int slot, Charge charge, long now) {
        super.notCharged(outcome, table, slot, charge, now);
        if (outcome.decided()) {
            limits[next++] =
                    new LimitState(table.limit(slot), table.longs, slot + 1).refused(charge, charge.permits(), now);
        }
    }

    @Override
    Receipt meeting(LimitAlgorithm limit, StoreClock clock) {
        if (limit.wallClock() && !epochRead) {
            epochRead = true;
            epochNanos = clock.epochNanos();
        }
        return this;
    }

    @Override
    long now(LimitAlgorithm limit, long monotonic) {
        nanos = monotonic;
        return limit.wallClock() ? epochNanos : monotonic;
    }

    /** Receives the status of a limit from a {@link Transaction}, and whether the overflow was charged. */
    void tell(int number, LimitStatus status, boolean paidByOverflow) {
        limits[number] = status;
        if (paidByOverflow) {
            if (fromOverflow == null) {
                fromOverflow = new BitSet(limits.length);
            }
            fromOverflow.set(number);
        }
    }

    /** Receives the time of the decision from a {@link Transaction}. */
    void at(Moment moment, boolean wallClock) {
        nanos = moment.nanos();
        epochNanos = moment.epochNanos();
        epochRead = wallClock;
    }

    /** How long ago the decision was made, on the limit's timeline if that was read. */
    long age(LimitAlgorithm limit, Moment moment) {
        return limit.wallClock() && epochRead ? moment.epochNanos() - epochNanos : moment.nanos() - nanos;
    }

    /** Whether the overflow was charged for the limit with this number. */
    boolean paidByOverflow(int number) {
        return fromOverflow != null && fromOverflow.get(number);
    }

    /** The decision, after all limits. */
    Decision decision(boolean admitted, boolean taken) {
        return new Decision(admitted, charges, new Statuses(limits), taken ? this : null);
    }

    /** The status of each limit, unmodifiable. */
    private static final class Statuses extends AbstractList<LimitStatus> implements RandomAccess {

        private final LimitStatus[] limits;

        Statuses(LimitStatus[] limits) {
            this.limits = limits;
        }

        @Override
        public LimitStatus get(int index) {
            return limits[index];
        }

        @Override
        public int size() {
            return limits.length;
        }
    }
}
