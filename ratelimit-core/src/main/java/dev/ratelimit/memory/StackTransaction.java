package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Decides several charges of known keys, as in almost every decision. The stack remembers the locks, so that only the
 * result is allocated; for yes or no only an object for the wall time, if a limit needs it.
 *
 * <p>Limits are locked and charged one after another, from the last to the first. They are unlocked on the way back,
 * and restored unless all have admitted; only a step back of the clock is kept. So a shared budget, which is usually
 * named first, is locked for a few instructions, and an exception leaves no partial charge and no lock.
 *
 * <p>If a decision is requested, it records the status of each limit while that is locked: after the charge on the way
 * down, so that nothing can be thrown on the way back, where charges are written; or on the way back, if a limit has
 * refused. The limits before the refusing one are then only asked.
 *
 * <p>Two threads never wait for each other. Like a {@link Transaction}, a thread that holds locks waits for another
 * only if its keyspace was created before those of all that it holds; otherwise it only tries. If that fails, it leaves
 * the decision to a transaction, with nothing charged; likewise if a key is unknown or is being moved, if a limit has
 * changed, if a state grows and cannot be restored, if a refusal may start a penalty, or if two charges use one budget.
 * Thread-safe.
 */
final class StackTransaction {

    private static final long NONE_HELD = Long.MAX_VALUE;

    /** The maximum number of charges, and of limits of each: beyond, a transaction is just as good. */
    private static final int MAX = 1 << Place.BITS;

    /** The maximum number of longs in a state that a frame remembers, as in {@link Table}. */
    private static final int MAX_STATE_SIZE = 3;

    /** The position of a limit among those of all charges: the number of its charge, and its number in the policy. */
    private static final class Place {

        static final int BITS = 3;

        static int of(int charge, int limit) {
            return charge << BITS | limit;
        }

        static int charge(int place) {
            return place >>> BITS;
        }

        static int limit(int place) {
            return place & (MAX - 1);
        }
    }

    private final StoreClock clock;
    private final Function<Policy, List<Keyspace>> keyspaces;
    private final HotSlots hotSlots;

    StackTransaction(StoreClock clock, Function<Policy, List<Keyspace>> keyspaces, HotSlots hotSlots) {
        this.clock = clock;
        this.keyspaces = keyspaces;
        this.hotSlots = hotSlots;
    }

    /** Charges all or nothing; {@link Outcome#UNDECIDED} if a transaction must decide. */
    Outcome tryCharge(List<Charge> charges) {
        if (charges.size() > MAX) {
            return Outcome.UNDECIDED;
        }
        Outcome outcome = tryBefore(charges, Place.of(charges.size(), 0), NONE_HELD, 0, Collector.YES_OR_NO);
        // the limits before the one that refused were not asked, and one of them may carry a penalty
        return outcome == Outcome.REFUSED && mayPenalize(charges) ? Outcome.UNDECIDED : outcome;
    }

    private static boolean mayPenalize(List<Charge> charges) {
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).policy().penalty() != null) {
                return true;
            }
        }
        return false;
    }

    /** Charges all or nothing, and returns the status of each limit; {@code null} if a transaction must decide. */
    @Nullable
    Decision decide(List<Charge> charges) {
        if (charges.size() > MAX) {
            return null;
        }
        Receipt receipt = new Receipt(charges);
        Outcome outcome = tryBefore(charges, Place.of(charges.size(), 0), NONE_HELD, 0, receipt);
        boolean admitted = outcome == Outcome.ADMITTED;
        return outcome == Outcome.UNDECIDED ? null : receipt.decision(admitted, admitted);
    }

    /** Charges the limits before this position: those of its charge, and of the charges before. */
    private Outcome tryBefore(List<Charge> charges, int place, long held, long nanos, Collector collector) {
        if (Place.limit(place) > 0) {
            return tryLimit(charges, place - 1, held, nanos, collector);
        }
        int charge = Place.charge(place) - 1;
        if (charge < 0) {
            return collector.refused() ? Outcome.REFUSED : Outcome.ADMITTED;
        }
        int limits = charges.get(charge).policy().limits().size();
        return limits > MAX
                ? Outcome.UNDECIDED
                : tryLimit(charges, Place.of(charge, limits - 1), held, nanos, collector);
    }

    /**
     * Charges this limit and those before it. A state is charged on the way down, while it is locked, and restored
     * unless all others admit; so an exception never leaves some of them charged. A state of one long is charged
     * outside the table and written on the way back: threads that read it without a lock never see a charge that is
     * reverted.
     *
     * @param held the minimum serial of the keyspaces with a locked key
     * @param nanos the time, if a key is locked
     */
    private Outcome tryLimit(List<Charge> charges, int place, long held, long nanos, Collector collector) {
        Charge charge = charges.get(Place.charge(place));
        LimitAlgorithm limit = charge.policy().algorithms().get(Place.limit(place));
        HotSlot hot = hotSlots.find(charge);
        Keyspace keys = hot != null ? hot.keys() : keyspace(charge, Place.limit(place));
        long hash = hot != null ? hot.hash() : KeyHash.of(charge.key());
        Table table = hot != null ? hot.table() : keys.segment(hash).table();
        int slot = hot != null ? hot.slot() : find(table, hash, charge, limit);
        if (slot == Table.NONE || !table.lock(slot, hash, limit, keys.serial < held)) {
            return undecided(hot);
        }
        long first = table.longs[slot + 1];
        long second = table.longs[slot + table.second];
        long third = table.longs[slot + table.third];
        try {
            long read = held == NONE_HELD ? clock.nanos() : nanos;
            Collector timed = collector.meeting(limit, clock);
            long now = timed.now(limit, read);
            boolean late = held != NONE_HELD && isAhead(table, slot, limit, now);
            long charged = late ? LimitAlgorithm.REFUSED : timed.charged(table, slot, charge, limit, now);
            Outcome outcome = late ? Outcome.UNDECIDED : outcome(charged, table, slot, charge, held);
            boolean asksOn = outcome == Outcome.ADMITTED || (outcome == Outcome.REFUSED && timed.asksOn());
            outcome = asksOn ? tryBefore(charges, place, Math.min(held, keys.serial), read, timed) : outcome;
            if (outcome == Outcome.ADMITTED) {
                table.longs[slot + 1] = charged;
            } else {
                table.restore(slot, first, second, third);
                timed.notCharged(outcome, table, slot, charge, now);
            }
            table.unlock(slot);
            return outcome;
        } catch (Throwable thrown) {
            table.longs[slot + 1] = first;
            table.longs[slot + table.second] = second;
            table.longs[slot + table.third] = third;
            Slots.unlocking = ~Table.LOCK;
            table.longs[slot] &= Slots.unlocking;
            throw thrown;
        }
    }

    private Keyspace keyspace(Charge charge, int limit) {
        Policy policy = charge.policy();
        Keyspace keys = keyspaces.apply(policy).get(policy.rank(limit));
        hotSlots.offer(policy, charge.key(), keys);
        return keys;
    }

    private static int find(Table table, long hash, Charge charge, LimitAlgorithm limit) {
        return charge.permits() == 0 || !remembers(limit) ? Table.NONE : table.find(hash);
    }

    /** Forgets a slot that is no longer the key's, so that it is looked up the next time. */
    private Outcome undecided(@Nullable HotSlot hot) {
        if (hot != null && hot.isGone()) {
            hotSlots.forget(hot);
        }
        return Outcome.UNDECIDED;
    }

    /** Whether a frame can restore a state of this limit, and need not write it after a refusal. */
    static boolean remembers(LimitAlgorithm limit) {
        return !(limit instanceof Penalty) && !limit.grows() && limit.stateSize() <= MAX_STATE_SIZE;
    }

    /**
     * Whether a state has a later window than the time that was read before it was locked. With that time, the wall clock
     * would seem to have been set back, and the charge could not be refunded.
     */
    private static boolean isAhead(Table table, int slot, LimitAlgorithm limit, long now) {
        long before = table.longs[slot + 1];
        StoreClock.rememberStep(limit, table.longs, slot + 1, now);
        return table.longs[slot + 1] != before || limit.beginsAfter(table.longs, slot + 1, now);
    }

    /**
     * The time was read after the first state, and another state may have a later one: it then must not cause a
     * refusal.
     */
    private Outcome outcome(long charged, Table table, int slot, Charge charge, long held) {
        if (charged != LimitAlgorithm.REFUSED) {
            return Outcome.ADMITTED;
        }
        LimitAlgorithm limit = table.limit(slot);
        boolean exact = held == NONE_HELD || !table.admits(slot, limit, charge.permits(), clock.now(limit));
        return exact ? Outcome.REFUSED : Outcome.UNDECIDED;
    }
}
