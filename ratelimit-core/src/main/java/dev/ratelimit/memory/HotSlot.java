package dev.ratelimit.memory;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Policy;

/**
 * The slot of a key when it was found, in {@link HotSlots}.
 *
 * @param digest of the policy and the key
 * @param keys of the limit
 * @param limit the only limit of the policy, of one to three longs
 * @param table with the slot; an old one leads to all later ones until the next sweep forgets it
 * @param longs those of the table, which are one load nearer here
 * @param header the header while the slot is unlocked
 */
@SuppressWarnings("ArrayRecordComponent") // compared by identity only
record HotSlot(
        Policy policy,
        String key,
        int digest,
        Keyspace keys,
        LimitAlgorithm limit,
        Table table,
        long[] longs,
        int slot,
        long header) {

    @SuppressWarnings("ReferenceEquality") // almost always the same object, and equals is slower
    boolean isOf(Policy other) {
        return policy == other
                || (policy.name().equals(other.name())
                        && other.limits().size() == 1
                        && TableLimits.same(limit, other.algorithms().get(0)));
    }

    /** The hash of the key. */
    long hash() {
        return Table.hashIn(header);
    }

    /** Whether the key is no longer in this slot, has another limit, or was forgotten. */
    boolean isGone() {
        return keys.isAbandoned() || (Slots.header(longs, slot) | Table.LOCK) != (header | Table.LOCK);
    }

    /** Charges the key; {@link Outcome#GONE} if it is no longer in this slot, has another limit, or was forgotten. */
    Outcome tryCharge(long permits, StoreClock clock) {
        if (keys.isAbandoned()) {
            return Outcome.GONE;
        }
        for (int failures = 0; ; failures++) {
            Outcome outcome =
                    limit.stateSize() == 1 ? tryChargeOptimistic(permits, clock) : tryChargeLocked(permits, clock);
            if (outcome != Outcome.CONTENDED) {
                return outcome;
            }
            if (isGone()) {
                return Outcome.GONE;
            }
            BackOff.after(failures);
        }
    }

    private Outcome tryChargeOptimistic(long permits, StoreClock clock) {
        long state = Slots.state(longs, slot);
        if (!Slots.holds(longs, slot, header, state)) {
            return Outcome.CONTENDED;
        }
        long charged = limit.tryCharge(state, permits, clock.now(limit));
        return charged == LimitAlgorithm.REFUSED ? Outcome.REFUSED : Slots.replace(longs, slot, header, state, charged);
    }

    /** For states of two or three longs; restores them if anything is thrown. */
    private Outcome tryChargeLocked(long permits, StoreClock clock) {
        int last = slot + limit.stateSize();
        if (!Slots.lock(longs, slot, header)) {
            return Outcome.CONTENDED;
        }
        long first = longs[slot + 1];
        long second = longs[slot + 2];
        long third = longs[last];
        try {
            long now = clock.now(limit);
            boolean admits = limit.admits(longs, slot + 1, permits, now);
            if (admits) {
                limit.charge(longs, slot + 1, permits, now);
            }
            Slots.unlock(longs, slot, header);
            return admits ? Outcome.ADMITTED : Outcome.REFUSED;
        } catch (Throwable thrown) {
            longs[slot + 1] = first;
            longs[slot + 2] = second;
            longs[last] = third;
            Slots.unlocking = ~Table.LOCK;
            longs[slot] &= Slots.unlocking;
            throw thrown;
        }
    }
}
