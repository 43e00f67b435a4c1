package dev.ratelimit.memory;

import dev.ratelimit.LimitAlgorithm;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Keys and their states in one flat array: a slot is a header and the longs of a state. Keys need no objects.
 *
 * <p>A header is the {@linkplain KeyHash hash} of the slot's key, with the number of its limit in the lowest six bits and
 * a lock in the seventh; or it says that the slot was never used, or that its key was removed or moved to the next
 * table. A key is in the first free slot after a position given by its hash (linear probing). To read and write a
 * state, a thread sets the lock by compare-and-set, which at the same time proves that the slot still belongs to the
 * key. Only the {@link Segment} of the table adds, moves and removes keys, one thread at a time, by the methods from
 * {@link #occupied} on; any thread calls those before.
 *
 * <p>No exception while a slot is locked, including a {@link StackOverflowError}, may leave it locked. A handler
 * therefore calls no method, which may need more stack: it clears {@link #LOCK} in the header by a plain store, after
 * {@link Slots#unlocking} has ordered the previous writes. For that, the arrays are visible in the package.
 */
final class Table {

    /** No slot. */
    static final int NONE = -1;

    /** A header that no slot has. */
    static final long NO_HEADER = -1;

    private static final long EMPTY = 0;
    private static final long REMOVED = 1;
    static final long MOVED = 2;

    private static final long LIMIT = TableLimits.NUMBERED;
    static final long LOCK = TableLimits.NUMBERED + 1;
    private static final long KEY = ~(LIMIT | LOCK);

    private static final AtomicLong SERIALS = new AtomicLong();

    /** Defines the order for locking slots of several tables. */
    final long serial = SERIALS.getAndIncrement();

    /** The table that keys are moved to, once that has started. Written under the segment's lock. */
    volatile @Nullable Table next;

    /**
     * Headers, each followed by the longs of a state. A header is read with acquire, and written by compare-and-set or
     * with release; its lock guards the state.
     */
    final long[] longs;

    /** The distance between two slots. */
    final int stride;

    /** The offsets of the second and the third long of a state; the last one if there are fewer. */
    final int second;

    final int third;

    /** Growing states, by the number of their slots, whose locks guard them; {@code null} if no limit has any. */
    final long @Nullable [] @Nullable [] grown;

    final TableLimits limits;

    private final int slots;

    /**
     * Creates an empty table.
     *
     * @param stateSize the longs of a state, at least 1
     * @param growing whether there are growing states
     */
    Table(int slots, int stateSize, boolean growing) {
        this.slots = slots;
        this.stride = 1 + stateSize;
        this.second = Math.min(2, stateSize);
        this.third = Math.min(3, stateSize);
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

    /** Whether states of this limit fit into the slots. */
    boolean fits(LimitAlgorithm limit) {
        return limit.grows() ? grown != null : limit.stateSize() < stride;
    }

    /** The memory of its arrays, except growing states. */
    long bytes() {
        return 8L * longs.length + (grown == null ? 0 : 4L * slots) + limits.bytes();
    }

    /** The memory of a slot for states of this limit, except growing states. */
    static long bytesASlot(LimitAlgorithm limit) {
        return limit.grows() ? 8L * 2 + 4 : 8L * (1 + limit.stateSize());
    }

    /** The slot where the search for a key starts. */
    int homeSlot(long hash) {
        long fraction = (hash << (1 + Keyspace.SEGMENT_BITS)) >>> 1;
        return (int) Math.multiplyHigh(fraction, 2L * slots) * stride;
    }

    /** The slot of this key, or {@link #NONE}. */
    int find(long hash) {
        int slot = homeSlot(hash);
        for (int i = 0; i < slots; i++) {
            long header = header(slot);
            if ((header & KEY) == hash) {
                return slot;
            }
            if (header == EMPTY) {
                return NONE;
            }
            slot = nextSlot(slot);
        }
        return NONE;
    }

    private long header(int slot) {
        return Slots.header(longs, slot);
    }

    /** The next slot; after the last, the first. */
    int nextSlot(int slot) {
        int next = slot + stride;
        return next == longs.length ? 0 : next;
    }

    /** The limit of the slot's state. Call this while the slot is locked, or for a limit known to be there. */
    LimitAlgorithm limit(int slot) {
        return limit(slot, longs[slot]);
    }

    private LimitAlgorithm limit(int slot, long header) {
        return limits.get((int) (header & LIMIT), slot);
    }

    private static boolean numbered(long header) {
        return (header & LIMIT) != TableLimits.NUMBERED;
    }

    /** Waits for the lock of the key's slot; false if the slot no longer belongs to the key. */
    boolean lock(int slot, long hash) {
        return lock(slot, hash, null, true);
    }

    /**
     * Locks the key's slot.
     *
     * @param limit the required limit of the key, or {@code null} for any
     * @param mayWait whether to wait if another thread has locked it
     * @return whether it is locked; also false if the slot does not belong to the key, or has another limit
     */
    boolean lock(int slot, long hash, @Nullable LimitAlgorithm limit, boolean mayWait) {
        for (int failures = 0; ; failures++) {
            long header = header(slot);
            if ((header & KEY) != hash || (limit != null && !isUnder(limit, slot, header))) {
                return false;
            }
            if ((header & LOCK) == 0 && Slots.LONGS.compareAndSet(longs, slot, header, header | LOCK)) {
                return true;
            }
            if (!mayWait) {
                return false;
            }
            BackOff.after(failures);
        }
    }

    private boolean isUnder(LimitAlgorithm limit, int slot, long header) {
        return numbered(header) && TableLimits.same(limit, limit(slot, header));
    }

    void unlock(int slot) {
        Slots.LONGS.setRelease(longs, slot, longs[slot] & ~LOCK);
    }

    /** The array of a locked slot's state, which starts at {@link #offset}. */
    long[] state(int slot) {
        long[] own = grown == null ? null : grown[slot / stride];
        return own == null ? longs : own;
    }

    int offset(int slot) {
        return grown == null || grown[slot / stride] == null ? slot + 1 : 0;
    }

    /** Whether the limit of a locked slot admits the permits. */
    boolean admits(int slot, LimitAlgorithm limit, long permits, long now) {
        return limit.admits(state(slot), offset(slot), permits, now);
    }

    /** Restores the first three longs of a locked slot's state. */
    void restore(int slot, long one, long two, long three) {
        longs[slot + 1] = one;
        longs[slot + second] = two;
        longs[slot + third] = three;
    }

    /** Makes room for a charge if the state of a locked slot grows. */
    void makeRoom(int slot, LimitAlgorithm limit, long permits, long now) {
        if (grown != null && grown[slot / stride] != null) {
            grown[slot / stride] = limit.grow(state(slot), 0, permits, now);
        }
    }

    /** Charges a locked slot's state, whose limit has admitted and which has room. */
    void charge(int slot, LimitAlgorithm limit, long permits, long now) {
        limit.charge(state(slot), offset(slot), permits, now);
    }

    /** Charges a state of one long if its limit admits. */
    Outcome tryCharge(int slot, long hash, LimitAlgorithm limit, long permits, StoreClock clock) {
        for (int failures = 0; ; failures++) {
            long header = header(slot);
            if ((header & KEY) != hash) {
                return Outcome.GONE;
            }
            if (!numbered(header)) {
                return tryChargeLocked(slot, hash, limit, permits, clock);
            }
            if ((header & LOCK) == 0) {
                if (!TableLimits.same(limit, limit(slot, header))) {
                    return Outcome.OTHER_LIMIT;
                }
                Outcome outcome = tryChargeOptimistic(slot, header, limit, permits, clock);
                if (outcome != Outcome.CONTENDED) {
                    return outcome;
                }
            }
            BackOff.after(failures);
        }
    }

    /** Charges a state of one long under this header, as {@link Slots#replace} describes it. */
    Outcome tryChargeOptimistic(int slot, long header, LimitAlgorithm limit, long permits, StoreClock clock) {
        long state = Slots.state(longs, slot);
        if (!Slots.holds(longs, slot, header, state)) {
            return Outcome.CONTENDED;
        }
        long charged = limit.tryCharge(state, permits, clock.now(limit));
        return charged == LimitAlgorithm.REFUSED ? Outcome.REFUSED : Slots.replace(longs, slot, header, state, charged);
    }

    /** The slot's header if this key is there, unlocked and under this numbered limit; otherwise {@link #NO_HEADER}. */
    long unlockedHeader(int slot, long hash, LimitAlgorithm limit) {
        long header = header(slot);
        boolean free = (header & KEY) == hash && (header & LOCK) == 0 && isUnder(limit, slot, header);
        return free ? header : NO_HEADER;
    }

    /**
     * Charges a state of up to three longs, or a growing one, if its limit admits. An exception leaves the former
     * unchanged; the latter, which is too long to remember, remains as its limit left it.
     */
    Outcome tryChargeLocked(int slot, long hash, LimitAlgorithm limit, long permits, StoreClock clock) {
        if (!lock(slot, hash)) {
            return Outcome.GONE;
        }
        long first = longs[slot + 1];
        long secondLong = longs[slot + second];
        long thirdLong = longs[slot + third];
        try {
            Outcome outcome = Outcome.OTHER_LIMIT;
            if (TableLimits.same(limit, limit(slot))) {
                long now = clock.now(limit);
                outcome = admits(slot, limit, permits, now) ? Outcome.ADMITTED : Outcome.REFUSED;
                if (outcome == Outcome.ADMITTED) {
                    makeRoom(slot, limit, permits, now);
                    charge(slot, limit, permits, now);
                }
            }
            unlock(slot);
            return outcome;
        } catch (Throwable thrown) {
            longs[slot + 1] = first;
            longs[slot + second] = secondLong;
            longs[slot + third] = thirdLong;
            Slots.unlocking = ~LOCK;
            longs[slot] &= Slots.unlocking;
            throw thrown;
        }
    }

    // for the segment alone, under its lock

    boolean occupied(int slot) {
        return longs[slot] < 0;
    }

    /** Whether the slot was never used. */
    boolean neverUsed(int slot) {
        return longs[slot] == EMPTY;
    }

    /** The hash of the key in an occupied slot. */
    long hash(int slot) {
        return hashIn(longs[slot]);
    }

    /** The hash of the key that an occupied slot with this header belongs to. */
    static long hashIn(long header) {
        return header & KEY;
    }

    /** Locks an occupied slot, unless another thread has locked it. */
    boolean tryLock(int slot) {
        long header = longs[slot];
        return (header & LOCK) == 0 && Slots.LONGS.compareAndSet(longs, slot, header, header | LOCK);
    }

    /** Writes the state of a new key where no other thread sees it: into a free slot or a locked one. */
    void clear(int slot, LimitAlgorithm limit, long now) {
        if (grown != null) {
            grown[slot / stride] = limit.grows() ? new long[limit.stateSize()] : null;
        }
        limit.clear(state(slot), offset(slot), now);
    }

    /** Assigns a free slot to this key, with its written state. */
    void publish(int slot, long hash, LimitAlgorithm limit) {
        long number = limits.number(limit);
        if (number == TableLimits.NUMBERED) {
            limits.put(limit, slot);
        }
        Slots.LONGS.setRelease(longs, slot, hash | number);
    }

    /** Whether there were more limits than numbers. */
    boolean lacksNumbers() {
        return limits.lackNumbers();
    }

    /** Copies the state of a locked slot into a free slot of another table with room for it. */
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
        Slots.LONGS.setRelease(longs, slot, REMOVED);
        if (grown != null) {
            grown[slot / stride] = null;
        }
    }

    /** Marks the key of a locked slot as moved to the next table. */
    void moved(int slot) {
        Slots.LONGS.setRelease(longs, slot, MOVED);
    }
}
