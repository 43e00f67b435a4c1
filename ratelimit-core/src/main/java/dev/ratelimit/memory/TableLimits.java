package dev.ratelimit.memory;

import dev.ratelimit.Limit;
import org.jspecify.annotations.Nullable;

/**
 * Which limits the keys of a table have: nearly always one, or a few that plans and overrides bring. The first have
 * numbers, which fit into the marks of their slots; those beyond are kept for each slot. Written by one thread at a time,
 * before the mark that tells of it.
 */
final class TableLimits {

    /** How many limits have a number, from 0; and the number of those that have none of their own. */
    static final int NUMBERED = 63;

    private final int slots;
    private final int stride;
    private final @Nullable Limit[] numbered = new Limit[NUMBERED];
    private @Nullable Limit @Nullable [] bySlot;

    /**
     * No limits yet.
     *
     * @param stride the distance from one slot to the next
     */
    TableLimits(int slots, int stride) {
        this.slots = slots;
        this.stride = stride;
    }

    /** The limit of a slot with this number in its mark. */
    @SuppressWarnings("NullAway") // a limit is there before the first mark that names it
    Limit get(int number, int slot) {
        return number == NUMBERED ? bySlot[slot / stride] : numbered[number];
    }

    /** The number under which the slot has this limit, which gets one if it can. */
    int put(Limit limit, int slot) {
        for (int i = 0; i < NUMBERED; i++) {
            if (numbered[i] == null) {
                numbered[i] = limit;
            }
            if (same(limit, numbered[i])) {
                return i;
            }
        }
        if (bySlot == null) {
            bySlot = new Limit[slots];
        }
        bySlot[slot / stride] = limit;
        return NUMBERED;
    }

    /** Whether there were more limits than numbers. */
    boolean lackNumbers() {
        return bySlot != null;
    }

    /** The memory of what is kept for each slot. */
    long bytes() {
        return bySlot == null ? 0 : 4L * slots;
    }

    @SuppressWarnings("ReferenceEquality") // nearly always the same object, and equals is dearer
    static boolean same(Limit limit, @Nullable Limit other) {
        return limit == other || limit.equals(other);
    }
}
