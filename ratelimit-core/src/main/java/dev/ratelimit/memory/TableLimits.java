package dev.ratelimit.memory;

import dev.ratelimit.LimitAlgorithm;
import org.jspecify.annotations.Nullable;

/**
 * The limits of the keys of a table: almost always one, or a few with plans and overrides. The first ones have numbers,
 * which fit into the headers of their slots; further ones are stored per slot. One thread at a time assigns numbers,
 * before the headers that contain them.
 */
final class TableLimits {

    /** Limits 0 to 62 have numbers in the headers; 63 means that the limit is stored per slot. */
    static final int NUMBERED = 63;

    private final int slots;
    private final int stride;

    /**
     * Written once each, under the segment's lock, and before a header with the number is released. Whoever looks for a
     * limit without such a header may miss it, but sees no other: limits are immutable.
     */
    private final @Nullable LimitAlgorithm[] numbered = new LimitAlgorithm[NUMBERED];

    /** The limits of slots whose limit has no number. Created like {@link #numbered}; a slot's lock guards its limit. */
    @Nullable
    LimitAlgorithm @Nullable [] bySlot;

    /**
     * Creates an object without limits.
     *
     * @param stride the distance between two slots
     */
    TableLimits(int slots, int stride) {
        this.slots = slots;
        this.stride = stride;
    }

    /** The limit of a slot with this number in its header. */
    @SuppressWarnings("NullAway") // a limit is set before the first header that contains its number
    LimitAlgorithm get(int number, int slot) {
        return number == NUMBERED ? bySlot[slot / stride] : numbered[number];
    }

    /** The number of this limit, which gets one if possible. */
    int number(LimitAlgorithm limit) {
        for (int i = 0; i < NUMBERED; i++) {
            if (numbered[i] == null) {
                numbered[i] = limit;
            }
            if (same(limit, numbered[i])) {
                return i;
            }
        }
        if (bySlot == null) {
            bySlot = new LimitAlgorithm[slots];
        }
        return NUMBERED;
    }

    /**
     * The number of this limit if another thread has assigned it, including {@link #NUMBERED}; -1 if {@link #number}
     * must be called.
     */
    int known(LimitAlgorithm limit) {
        for (int i = 0; i < NUMBERED; i++) {
            LimitAlgorithm other = numbered[i];
            if (other == null) {
                return -1;
            }
            if (same(limit, other)) {
                return i;
            }
        }
        return bySlot == null ? -1 : NUMBERED;
    }

    /** Sets the limit without a number for this slot, which is new or locked. */
    @SuppressWarnings("NullAway") // the array exists as soon as a limit has no number
    void put(LimitAlgorithm limit, int slot) {
        bySlot[slot / stride] = limit;
    }

    /** Whether there were more limits than numbers. */
    boolean lackNumbers() {
        return bySlot != null;
    }

    /** The memory of the limits that are stored per slot. */
    long bytes() {
        return bySlot == null ? 0 : 4L * slots;
    }

    @SuppressWarnings("ReferenceEquality") // almost always the same object, and equals is slower
    static boolean same(LimitAlgorithm limit, @Nullable LimitAlgorithm other) {
        return limit == other || limit.equals(other);
    }
}
