package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitAlgorithm;

/**
 * Charges the states of a decision one after another, and collects what the caller wants to know: here, only whether
 * they are admitted. Immutable.
 */
class Collector {

    /** Before the first limit on wall time. */
    static final Collector YES_OR_NO = new Collector(0);

    private final long epochNanos;

    Collector(long epochNanos) {
        this.epochNanos = epochNanos;
    }

    /** This object, or one with the wall time if this limit is the first that needs it: the wall clock is read once. */
    Collector meeting(LimitAlgorithm limit, StoreClock clock) {
        return limit.wallClock() && this == YES_OR_NO ? new Collector(clock.epochNanos()) : this;
    }

    /** The time on the timeline of a limit, given a monotonic time that was read before. */
    long now(LimitAlgorithm limit, long monotonic) {
        return limit.wallClock() ? epochNanos : monotonic;
    }

    /**
     * Charges a locked state of few longs, if its limit admits. Writes the state only if it has several longs.
     *
     * @return the first long of the state after the charge; {@link LimitAlgorithm#REFUSED} if the limit refuses
     */
    long charged(Table table, int slot, Charge charge, LimitAlgorithm limit, long now) {
        if (limit.stateSize() == 1) {
            return limit.tryCharge(table.longs[slot + 1], charge.permits(), now);
        }
        if (!limit.admits(table.longs, slot + 1, charge.permits(), now)) {
            return LimitAlgorithm.REFUSED;
        }
        limit.charge(table.longs, slot + 1, charge.permits(), now);
        return table.longs[slot + 1];
    }

    /**
     * Handles a locked state that is not charged after all. If the decision is final, the state records a step back of
     * the clock.
     */
    void notCharged(Outcome outcome, Table table, int slot, Charge charge, long now) {
        if (outcome.decided()) {
            StoreClock.rememberStep(table.limit(slot), table.longs, slot + 1, now);
        }
    }

    /** Whether to ask the other limits after one has refused. */
    boolean asksOn() {
        return false;
    }

    /** Whether a limit has refused while the others are still asked. */
    boolean refused() {
        return false;
    }
}
