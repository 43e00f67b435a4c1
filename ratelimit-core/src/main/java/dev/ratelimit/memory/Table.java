package dev.ratelimit.memory;

import dev.ratelimit.Limit;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Keys and their states in one flat array: a slot is a mark and the longs of a state. No object is made for a key.
 *
 * <p>A mark is the {@linkplain KeyHash hash} of the slot's key, with the number of its limit in the lowest six bits and a
 * lock in the seventh; or says that no key was ever here, that one was removed, or that it was moved to the next table.
 * A key lies in the first free slot from a place on that its hash gives (linear probing). A state is read and written
 * by whoever has set the lock by compare-and-set, which at the same time proves that the slot is still that key's. Keys
 * come and go only by the {@link Segment} that has the table, one thread at a time.
 */
final class Table {

    /** What a charge on a single state comes to; the key may be gone, or have another limit. */
    enum Outcome {
        ADMITTED,
        REFUSED,
        GONE,
        OTHER_LIMIT,
        /** Another thread was there in between. */
        DISTURBED
    }

    /** No slot. */
    static final int NONE = -1;

    private static final long EMPTY = 0;
    private static final long REMOVED = 1;
    private static final long MOVED = 2;

    private static final long LIMIT = TableLimits.NUMBERED;
    private static final long LOCK = TableLimits.NUMBERED + 1;
    private static final long KEY = ~(LIMIT | LOCK);
    private static final int LEAST_SPINS = 8;
    private static final int SPINNING_FAILURES = 6;

    private static final AtomicLong SERIALS = new AtomicLong();
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

    /** Orders tables, for locking slots of several. */
    final long serial = SERIALS.getAndIncrement();

    /** The table that keys are moved to, once that has begun. */
    volatile @Nullable Table next;

    private final int slots;
    private final int stride;
    private final long[] longs;

    /** States that grow, each at the number of its slot; {@code null} where no limit's does. */
    private final long @Nullable [] @Nullable [] grown;

    private final TableLimits limits;

    /**
     * An empty table.
     *
     * @param stateSize the longs of a state, at least 1
     * @param growing whether there are states that grow
     */
    Table(int slots, int stateSize, boolean growing) {
        this.slots = slots;
        this.stride = 1 + stateSize;
        this.longs = new long[slots * stride];
        this.grown = growing ? new long[slots][] : null;
        this.limits = new TableLimits(slots, stride);
    }

    int slots() {
        return slots;
    }

    int stateSize() {
        return stride - 1;
    }

    boolean growing() {
        return grown != null;
    }

    /** The memory of its arrays, without what grows. */
    long bytes() {
        return 8L * longs.length + (grown == null ? 0 : 4L * slots) + limits.bytes();
    }

    /** The memory of a slot for states of this limit, without what grows. */
    static long bytesASlot(Limit limit) {
        return limit.grows() ? 8L * 2 + 4 : 8L * (1 + limit.stateSize());
    }

    /** The slot where the search for a key begins. */
    private int home(long hash) {
        long fraction = (hash << (1 + Keyspace.SEGMENT_BITS)) >>> 1;
        return (int) Math.multiplyHigh(fraction, 2L * slots) * stride;
    }

    /** The slot of this key, or {@link #NONE}. */
    int find(long hash) {
        int slot = home(hash);
        for (int i = 0; i < slots; i++) {
            long mark = mark(slot);
            if ((mark & KEY) == hash) {
                return slot;
            }
            if (mark == EMPTY) {
                return NONE;
            }
            slot = after(slot);
        }
        return NONE;
    }

    private long mark(int slot) {
        return (long) LONGS.getAcquire(longs, slot);
    }

    private int after(int slot) {
        int next = slot + stride;
        return next == longs.length ? 0 : next;
    }

    /** The limit that the slot's state belongs to. To be asked while it is locked, or about a limit known to be there. */
    Limit limit(int slot) {
        return limit(slot, longs[slot]);
    }

    private Limit limit(int slot, long mark) {
        return limits.get((int) (mark & LIMIT), slot);
    }

    private static boolean numbered(long mark) {
        return (mark & LIMIT) != TableLimits.NUMBERED;
    }

    /** Whether the key in this slot has this limit, as far as can be told without the lock. */
    boolean has(int slot, Limit limit) {
        long mark = mark(slot);
        return mark >= 0 || TableLimits.same(limit, limit(slot, mark));
    }

    /** Waits for the lock of the key's slot; false when the slot is not the key's any more. */
    boolean lock(int slot, long hash) {
        for (int failures = 0; ; failures++) {
            long mark = mark(slot);
            if ((mark & KEY) != hash) {
                return false;
            }
            if ((mark & LOCK) != 0) {
                backOff(failures);
            } else if (LONGS.compareAndSet(longs, slot, mark, mark | LOCK)) {
                return true;
            }
        }
    }

    /**
     * Waits after so many failures in a row, each time twice as long: who comes back at once takes the cache line away from
     * those that get on.
     */
    @SuppressWarnings("ThreadPriorityCheck") // yielding only helps a holder that was preempted; nothing relies on it
    static void backOff(int failures) {
        if (failures >= SPINNING_FAILURES) {
            Thread.yield();
            return;
        }
        for (int spins = LEAST_SPINS << failures; spins > 0; spins--) {
            Thread.onSpinWait();
        }
    }

    /** Locks the key's slot if nobody else has; false also when the slot is not the key's any more. */
    boolean tryLock(int slot, long hash) {
        long mark = mark(slot);
        return (mark & KEY) == hash && (mark & LOCK) == 0 && LONGS.compareAndSet(longs, slot, mark, mark | LOCK);
    }

    void unlock(int slot) {
        LONGS.setRelease(longs, slot, longs[slot] & ~LOCK);
    }

    /** The array in which the state of a locked slot begins at {@link #offset}. */
    long[] state(int slot) {
        long[] own = grown == null ? null : grown[slot / stride];
        return own == null ? longs : own;
    }

    int offset(int slot) {
        return grown == null || grown[slot / stride] == null ? slot + 1 : 0;
    }

    /** Whether the limit of a locked slot admits that. */
    boolean admits(int slot, Limit limit, long permits, long now) {
        return limit.admits(state(slot), offset(slot), permits, now);
    }

    /** Charges a locked slot's state, whose limit has admitted it. */
    void charge(int slot, Limit limit, long permits, long now) {
        if (grown != null && grown[slot / stride] != null) {
            grown[slot / stride] = limit.grow(state(slot), permits, now);
        }
        limit.charge(state(slot), offset(slot), permits, now);
    }

    /** Charges a state of one long if its limit admits that. */
    Outcome tryChargeWord(int slot, long hash, Limit limit, long permits, StoreClock clock) {
        for (int failures = 0; ; failures++) {
            long mark = mark(slot);
            if ((mark & KEY) != hash) {
                return Outcome.GONE;
            }
            if (!numbered(mark)) {
                return tryChargeLongs(slot, hash, limit, permits, clock);
            }
            if ((mark & LOCK) == 0) {
                if (!TableLimits.same(limit, limit(slot, mark))) {
                    return Outcome.OTHER_LIMIT;
                }
                Outcome outcome = tryChargeMarked(slot, mark, limit, permits, clock);
                if (outcome != Outcome.DISTURBED) {
                    return outcome;
                }
            }
            backOff(failures);
        }
    }

    /**
     * Charges a state of one long under this mark, without a lock, if its limit admits that and nobody comes in between. The
     * lock is held for two stores, and not at all for a refusal. The state is read first and the clock second: then no
     * charge is decided by a time before one that the state already knows, however long a thread is held up in between.
     */
    Outcome tryChargeMarked(int slot, long mark, Limit limit, long permits, StoreClock clock) {
        long state = (long) LONGS.getAcquire(longs, slot + 1);
        // it was this mark's state if it is the same before the mark and after it
        if (mark(slot) != mark || (long) LONGS.getAcquire(longs, slot + 1) != state) {
            return Outcome.DISTURBED;
        }
        long charged = limit.tryCharge(state, permits, clock.now(limit));
        if (charged == Limit.REFUSED) {
            return Outcome.REFUSED;
        }
        if (!LONGS.compareAndSet(longs, slot, mark, mark | LOCK)) {
            return Outcome.DISTURBED;
        }
        boolean same = longs[slot + 1] == state;
        if (same) {
            longs[slot + 1] = charged;
        }
        LONGS.setRelease(longs, slot, mark);
        return same ? Outcome.ADMITTED : Outcome.DISTURBED;
    }

    /** The slot's mark while this key is there under this numbered limit and nobody has locked it; else one that no slot has. */
    long calmMark(int slot, long hash, Limit limit) {
        long mark = mark(slot);
        boolean calm = (mark & KEY) == hash
                && (mark & LOCK) == 0
                && numbered(mark)
                && TableLimits.same(limit, limit(slot, mark));
        return calm ? mark : -1;
    }

    /** Charges any state if its limit admits that. */
    Outcome tryChargeLongs(int slot, long hash, Limit limit, long permits, StoreClock clock) {
        if (!lock(slot, hash)) {
            return Outcome.GONE;
        }
        try {
            if (!TableLimits.same(limit, limit(slot))) {
                return Outcome.OTHER_LIMIT;
            }
            long now = clock.now(limit);
            if (!admits(slot, limit, permits, now)) {
                return Outcome.REFUSED;
            }
            charge(slot, limit, permits, now);
            return Outcome.ADMITTED;
        } finally {
            unlock(slot);
        }
    }

    // what follows is for the segment, one thread at a time

    /** Whether states of this limit have a place in the slots. */
    boolean fits(Limit limit) {
        return limit.grows() ? grown != null : limit.stateSize() < stride;
    }

    /** The slots from the key's place on, of which this is the first. */
    int first(long hash) {
        return home(hash);
    }

    /** The slot after this one; after the last comes the first. */
    int next(int slot) {
        return after(slot);
    }

    boolean taken(int slot) {
        return longs[slot] < 0;
    }

    /** Whether no key was ever here. */
    boolean fresh(int slot) {
        return longs[slot] == EMPTY;
    }

    /** The hash of the key in a taken slot. */
    long hash(int slot) {
        return longs[slot] & KEY;
    }

    /** Whether nobody else had the lock of a taken slot. */
    boolean tryLock(int slot) {
        long mark = longs[slot];
        return (mark & LOCK) == 0 && LONGS.compareAndSet(longs, slot, mark, mark | LOCK);
    }

    /** Writes the state of a key never seen where nobody sees it yet: into a free slot, or one that is locked. */
    void clear(int slot, Limit limit, long now) {
        if (grown != null) {
            grown[slot / stride] = limit.grows() ? new long[limit.stateSize()] : null;
        }
        limit.clear(state(slot), offset(slot), now);
    }

    /** Makes the slot, free or locked, this key's, with the state that was written; or changes its limit. Unlocks it. */
    void publish(int slot, long hash, Limit limit) {
        LONGS.setRelease(longs, slot, hash | limits.put(limit, slot));
    }

    /** Whether there were more limits than numbers. */
    boolean lacksNumbers() {
        return limits.lackNumbers();
    }

    /** The state of a locked slot, copied. */
    long[] copy(int slot) {
        long[] state = state(slot);
        return Arrays.copyOfRange(state, offset(slot), state == longs ? slot + stride : state.length);
    }

    /** Writes a state of this limit into a slot, free or locked. */
    void write(int slot, Limit limit, long[] state) {
        if (grown != null) {
            grown[slot / stride] = limit.grows() ? state : null;
        }
        if (!limit.grows()) {
            System.arraycopy(state, 0, longs, slot + 1, state.length);
        }
    }

    /** Copies the state of a locked slot into a free slot of another table in which it fits. */
    void copy(int slot, Table to, int toSlot) {
        long[] own = grown == null ? null : grown[slot / stride];
        if (to.grown != null) {
            to.grown[toSlot / to.stride] = own;
        }
        if (own == null) {
            System.arraycopy(longs, slot + 1, to.longs, toSlot + 1, Math.min(stride, to.stride) - 1);
        }
    }

    /** Frees a locked slot. */
    void remove(int slot) {
        if (grown != null) {
            grown[slot / stride] = null;
        }
        LONGS.setRelease(longs, slot, REMOVED);
    }

    /** Says that the key of a locked slot is in the next table by now. */
    void moved(int slot) {
        LONGS.setRelease(longs, slot, MOVED);
    }
}
