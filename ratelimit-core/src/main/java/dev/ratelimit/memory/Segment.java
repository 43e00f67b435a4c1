package dev.ratelimit.memory;

import dev.ratelimit.LimitAlgorithm;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A part of the keys of a limit: those whose hashes start with the same bits. Adding a key, removing it or moving all
 * keys to another table requires the segment's lock; charging an existing key does not.
 *
 * <p>A table grows by half when it is crowded, and shrinks when it is mostly empty. Its keys are moved one at a time,
 * and each can be found at any time, in the old table or in the next one.
 *
 * <p>Exceptions leave nothing locked and nothing half done: the segment's lock, like that of a slot, is released by a
 * store, which works even at the end of the stack; and the next holder finishes an interrupted move.
 */
final class Segment {

    /** The result of adding a key. */
    enum Added {
        NEW,
        KNOWN,
        /** There are {@code maxKeys} keys. */
        FULL,
        NO_ROOM
    }

    static final int MIN_SLOTS = 8;

    /**
     * Load factors (used slots / all slots) at which a table is rebuilt: while it may still grow, and at its maximum
     * size.
     */
    private static final double CROWDED = 0.7;

    private static final double PACKED = 0.92;
    private static final double GROWTH = 1.5;

    private static final AtomicIntegerFieldUpdater<Segment> LOCKED =
            AtomicIntegerFieldUpdater.newUpdater(Segment.class, "locked");

    /** After this many attempts to lock, a thread parks between them, for this time. */
    private static final int IMPATIENT_FAILURES = 50;

    private static final long PARKED_NANOS = 20_000;

    /** A new key is full from this time before on: another thread may meet it with a time that it has read before. */
    private static final long FULL_BEFORE_NANOS = Duration.ofHours(1).toNanos();

    private final Keyspace keys;
    private final StoreClock clock;
    private final boolean counted;
    private final long maxSlots;

    /** 1 while a thread has the segment's lock. Setting it to 0 releases what that thread has written. */
    @SuppressWarnings("UnusedVariable") // read by its updater
    private volatile int locked;

    /** Written under the segment's lock, when all keys have been moved there. */
    private volatile Table table = new Table(0, 1, false);

    /** Used only under the segment's lock, like all below. */
    private int taken;

    private int used;

    /** Removed keys and unused reservations that are not yet reported to the keyspace. */
    private int goneFull;

    private int goneActive;
    private int unusedPlaces;

    /**
     * Creates a segment without keys.
     *
     * @param maxSlots the maximum number of slots in a table
     * @param counted whether its keys count towards the maximum of a keyspace
     */
    Segment(Keyspace keys, StoreClock clock, long maxSlots, boolean counted) {
        this.keys = keys;
        this.clock = clock;
        this.counted = counted;
        this.maxSlots = Math.max(MIN_SLOTS, maxSlots);
    }

    /** The table where the search for a key starts; it continues with {@link Table#next}. */
    Table table() {
        return table;
    }

    /** The table with the key; {@code null} if there is none. */
    @Nullable
    Table find(long hash) {
        Table found = table;
        while (found != null && found.find(hash) == Table.NONE) {
            found = found.next;
        }
        return found;
    }

    /** Must be followed by a {@code try} whose {@code finally} sets {@link #locked} to 0. */
    private void lock() {
        for (int failures = 0; !LOCKED.compareAndSet(this, 0, 1); failures++) {
            if (failures < IMPATIENT_FAILURES) {
                BackOff.after(failures);
            } else {
                LockSupport.parkNanos(this, PARKED_NANOS);
            }
        }
    }

    /**
     * Adds a key under this limit, with nothing charged, unless it exists.
     *
     * @param kept the hashes of keys that must not be evicted to make room
     */
    Added add(long hash, LimitAlgorithm limit, LongPredicate kept) {
        lock();
        try {
            finishMove();
            report();
            if (find(hash) != null) {
                return Added.KNOWN;
            }
            // no other thread can add this key now, because that requires this lock
            if (counted && !keys.reservePlace()) {
                return Added.FULL;
            }
            unusedPlaces += counted ? 1 : 0;
            try {
                return addNew(hash, limit, kept);
            } finally {
                report();
            }
        } finally {
            locked = 0;
        }
    }

    private Added addNew(long hash, LimitAlgorithm limit, LongPredicate kept) {
        Table roomy = tableFor(limit, 1, kept);
        int slot = roomy.homeSlot(hash);
        for (int i = 0; i < roomy.slots(); i++, slot = roomy.nextSlot(slot)) {
            if (!roomy.occupied(slot)) {
                int fresh = roomy.neverUsed(slot) ? 1 : 0;
                roomy.clear(slot, limit, clock.now(limit) - FULL_BEFORE_NANOS);
                roomy.publish(slot, hash, limit);
                used += fresh;
                taken++;
                unusedPlaces -= counted ? 1 : 0;
                return Added.NEW;
            }
        }
        return Added.NO_ROOM;
    }

    /** Ensures that states of this limit fit into the table, and that the limit has a number there. */
    void prepare(LimitAlgorithm limit) {
        lock();
        try {
            finishMove();
            tableFor(limit, 0, hash -> false).limits.number(limit);
        } finally {
            locked = 0;
        }
    }

    /** Removes all full keys. */
    void sweep() {
        lock();
        try {
            finishMove();
            try {
                removeFull(hash -> false);
            } finally {
                report();
            }
            int slots = taken == 0 ? 0 : slotsFor(taken);
            boolean tooLarge = taken < table.slots() / 4 && slots < table.slots();
            if (tooLarge || table.lacksNumbers()) {
                // limits without keys lose their numbers
                rebuild(slots, table.stateSize(), table.growing());
            }
        } finally {
            locked = 0;
        }
    }

    /**
     * Removes one key: a full one or, of the sample, the one closest to full, but no exhausted one. Removes none if
     * another thread has made room in the meantime, or has added the key that needs it.
     *
     * @return whether one was removed or need not be
     */
    boolean evict(Sample sample) {
        lock();
        try {
            finishMove();
            report();
            if (keys.hasRoom() || find(sample.hash) != null) {
                return true;
            }
            try {
                removeFullest(sample);
                return goneFull + goneActive > 0;
            } finally {
                report();
            }
        } finally {
            locked = 0;
        }
    }

    private void removeFullest(Sample sample) {
        Table all = table;
        Fullness fullest = new Fullness();
        int slot = all.homeSlot(sample.hash);
        for (int i = 0; i < all.slots() && sample.goesOn() && goneFull == 0; i++, slot = all.nextSlot(slot)) {
            if (all.occupied(slot) && !sample.keeps(all.hash(slot)) && look(all, slot, fullest, false)) {
                sample.lookedAtOne();
            }
        }
        if (goneFull == 0 && fullest.slot != Table.NONE) {
            look(all, fullest.slot, fullest, true);
        }
    }

    /** The memory of the table. */
    long bytes() {
        return table.bytes();
    }

    /** The key in the sample that is closest to full. */
    private static final class Fullness {

        private int slot = Table.NONE;
        private long remaining;
        private long capacity = 1;

        void compare(int other, long left, long of) {
            // left / of > remaining / capacity, in 128 bits
            long high = Math.multiplyHigh(left, capacity);
            long maxHigh = Math.multiplyHigh(remaining, of);
            boolean fuller =
                    high != maxHigh ? high > maxHigh : Long.compareUnsigned(left * capacity, remaining * of) > 0;
            if (fuller) {
                slot = other;
                remaining = left;
                capacity = of;
            }
        }
    }

    /**
     * Removes a key if it is full, or is to be evicted and not exhausted; otherwise compares it. Locks the key itself:
     * a call between locking and the handler that unlocks may exhaust the stack.
     *
     * @return false, with no effect, if another thread has locked the key
     */
    private boolean look(Table all, int slot, Fullness fullest, boolean go) {
        if (!all.tryLock(slot)) {
            return false;
        }
        try {
            LimitAlgorithm limit = all.limit(slot);
            long now = clock.now(limit);
            StoreClock.rememberStep(limit, all.state(slot), all.offset(slot), now);
            boolean full = limit.fullAfterNanos(all.state(slot), all.offset(slot), now) == 0;
            long remaining = full ? limit.capacity() : limit.remaining(all.state(slot), all.offset(slot), now);
            if (full || (go && remaining > 0)) {
                all.remove(slot);
                taken--;
                goneFull += full ? 1 : 0;
                goneActive += full ? 0 : 1;
            } else {
                fullest.compare(slot, remaining, limit.capacity());
                all.unlock(slot);
            }
            return true;
        } catch (Throwable thrown) {
            Slots.unlocking = ~Table.LOCK;
            all.longs[slot] &= Slots.unlocking;
            throw thrown;
        }
    }

    private void removeFull(LongPredicate kept) {
        Table all = table;
        Fullness ignored = new Fullness();
        int slot = 0;
        for (int i = 0; i < all.slots(); i++, slot = all.nextSlot(slot)) {
            if (all.occupied(slot) && !kept.test(all.hash(slot))) {
                look(all, slot, ignored, false);
            }
        }
    }

    /** The table, or a new one if necessary, with room for this many more keys and for states of this limit. */
    private Table tableFor(LimitAlgorithm limit, int more, LongPredicate kept) {
        Table now = table;
        boolean fits = now.fits(limit);
        if (fits && !crowded(now, more)) {
            return now;
        }
        if (fits) {
            removeFull(kept);
        }
        boolean keep = taken > 0;
        int stateSize = limit.grows() ? 1 : limit.stateSize();
        return rebuild(
                slotsFor(taken + more),
                keep ? Math.max(now.stateSize(), stateSize) : stateSize,
                limit.grows() || (keep && now.growing()));
    }

    private boolean crowded(Table now, int more) {
        if (now.slots() < maxSlots) {
            return used + more > CROWDED * now.slots();
        }
        return more > 0 && used > PACKED * now.slots() && taken < CROWDED * now.slots();
    }

    private int slotsFor(int wanted) {
        double slots = Math.max(MIN_SLOTS, wanted * GROWTH / CROWDED);
        return (int) Math.min(slots, (double) maxSlots);
    }

    /** Moves all keys to a new table. */
    private Table rebuild(int slots, int stateSize, boolean growing) {
        table.next = new Table(slots, stateSize, growing);
        moveAll();
        return table;
    }

    /** Finishes a move that an exception interrupted. */
    private void finishMove() {
        if (table.next != null) {
            moveAll();
        }
    }

    /** Reports removed keys and unused reservations to the keyspace. */
    private void report() {
        for (; counted && goneFull > 0; goneFull--) {
            keys.evictedFull();
        }
        for (; counted && goneActive > 0; goneActive--) {
            keys.evictedActive();
        }
        for (; unusedPlaces > 0; unusedPlaces--) {
            keys.releasePlace();
        }
        goneFull = 0;
        goneActive = 0;
    }

    /** Moves the remaining keys to the next table. */
    private void moveAll() {
        Table old = table;
        Table fresh = Objects.requireNonNull(old.next);
        int slot = 0;
        for (int i = 0; i < old.slots(); i++, slot = old.nextSlot(slot)) {
            if (old.occupied(slot)) {
                move(old, slot, fresh);
            }
        }
        used = taken;
        table = fresh;
    }

    /** Moves a key, unless it was removed. Locks it itself, as {@link #look} does. */
    private static void move(Table old, int slot, Table fresh) {
        long hash = old.hash(slot);
        if (!old.lock(slot, hash)) {
            return;
        }
        boolean there = false;
        try {
            int to = fresh.homeSlot(hash);
            while (fresh.occupied(to)) {
                to = fresh.nextSlot(to);
            }
            old.copy(slot, fresh, to);
            fresh.publish(to, hash, old.limit(slot));
            there = true;
            old.moved(slot);
        } catch (Throwable thrown) {
            Slots.unlocking = ~Table.LOCK;
            old.longs[slot] = (there ? Table.MOVED : old.longs[slot]) & Slots.unlocking;
            throw thrown;
        }
    }
}
