package dev.ratelimit.memory;

import dev.ratelimit.Limit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A part of the keys of a limit: those whose hash begins alike. Whoever adds a key, removes one or moves them all to
 * another table holds this segment's lock; whoever only charges a key that is there does not.
 *
 * <p>A table grows by half when it is crowded, and gets smaller when it is mostly empty. Its keys are moved one at a time,
 * and each of them can be found all the while, in the old table or else in the next one.
 */
final class Segment {

    /** What adding a key came to. */
    enum Added {
        NEW,
        KNOWN,
        /** There are as many keys as may be. */
        FULL,
        NO_ROOM
    }

    private static final int LEAST_SLOTS = 8;

    /** Shares of the slots that are not fresh, from which a table is too crowded: while it can grow, and when it cannot. */
    private static final double CROWDED = 0.7;

    private static final double PACKED = 0.92;
    private static final double GROWTH = 1.5;

    private final ReentrantLock lock = new ReentrantLock();
    private final Keyspace keys;
    private final StoreClock clock;
    private final long mostSlots;
    private volatile Table table = new Table(0, 1, false);
    private int taken;
    private int used;

    /**
     * Without keys.
     *
     * @param mostSlots the slots that a table may have, at most
     */
    Segment(Keyspace keys, StoreClock clock, long mostSlots) {
        this.keys = keys;
        this.clock = clock;
        this.mostSlots = Math.max(LEAST_SLOTS, mostSlots);
    }

    /** Where the search for a key begins; it goes on with {@link Table#next}. */
    Table table() {
        return table;
    }

    /** The table that has the key; {@code null} when none has. */
    @Nullable
    Table find(long hash) {
        Table found = table;
        while (found != null && found.find(hash) == Table.NONE) {
            found = found.next;
        }
        return found;
    }

    /** Makes a key under this limit, with nothing charged, unless it is there. */
    Added add(long hash, Limit limit) {
        lock.lock();
        try {
            if (find(hash) != null) {
                return Added.KNOWN;
            }
            // by now nobody else can bring this key: who takes a place needs it
            if (hash != Keyspace.OVERFLOW && !keys.takePlace()) {
                return Added.FULL;
            }
            Added added = Added.NO_ROOM;
            try {
                added = addNew(hash, limit);
            } finally {
                if (hash != Keyspace.OVERFLOW && added == Added.NO_ROOM) {
                    keys.leavePlace();
                }
            }
            return added;
        } finally {
            lock.unlock();
        }
    }

    private Added addNew(long hash, Limit limit) {
        Table roomy = tableFor(limit, 1);
        int slot = roomy.first(hash);
        for (int i = 0; i < roomy.slots(); i++, slot = roomy.next(slot)) {
            if (!roomy.taken(slot)) {
                roomy.clear(slot, limit, clock.now(limit));
                used += roomy.fresh(slot) ? 1 : 0;
                taken++;
                roomy.publish(slot, hash, limit);
                return Added.NEW;
            }
        }
        return Added.NO_ROOM;
    }

    /** Moves a key to another limit, with what it has used, unless it has that limit. */
    void change(long hash, Limit limit) {
        lock.lock();
        try {
            Table fitting = tableFor(limit, 0);
            int slot = fitting.find(hash);
            // another thread may have changed it by now, and a state that is adopted is not always quite the same
            if (slot != Table.NONE && !fitting.has(slot, limit) && fitting.lock(slot, hash)) {
                fitting.write(slot, limit, adopted(fitting, slot, limit));
                fitting.publish(slot, hash, limit);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Removes all keys that are full again. */
    void sweep() {
        lock.lock();
        try {
            removeFull();
            int slots = taken == 0 ? 0 : slotsFor(taken);
            boolean tooLarge = taken < table.slots() / 4 && slots < table.slots();
            if (tooLarge || table.lacksNumbers()) {
                // limits that no key has any more lose their numbers
                rebuild(slots, table.stateSize(), table.growing());
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Removes one key: one that is full again, or the fullest of those looked at, but no exhausted one.
     *
     * @param most how many are looked at
     * @param kept the hashes of keys that are not looked at
     * @return how many were looked at without finding one to remove; -1 when one was removed
     */
    int evict(long hash, int most, LongPredicate kept) {
        lock.lock();
        try {
            Table all = table;
            int seen = 0;
            int fullest = Table.NONE;
            long mostRemaining = 0;
            int slot = all.first(hash);
            for (int i = 0; i < all.slots() && seen < most; i++, slot = all.next(slot)) {
                if (all.taken(slot) && !kept.test(all.hash(slot)) && all.tryLock(slot)) {
                    seen++;
                    if (removedIfFull(all, slot)) {
                        return -1;
                    }
                    long remaining = remaining(all, slot);
                    all.unlock(slot);
                    if (remaining > mostRemaining) {
                        mostRemaining = remaining;
                        fullest = slot;
                    }
                }
            }
            return fullest != Table.NONE && evictActive(all, fullest) ? -1 : seen;
        } finally {
            lock.unlock();
        }
    }

    /** The memory of the table. */
    long bytes() {
        return table.bytes();
    }

    private boolean evictActive(Table all, int slot) {
        if (!all.tryLock(slot)) {
            return false;
        }
        if (remaining(all, slot) == 0) {
            all.unlock(slot);
            return false;
        }
        all.remove(slot);
        taken--;
        keys.evictedActive();
        return true;
    }

    private long remaining(Table all, int slot) {
        Limit limit = all.limit(slot);
        return limit.remaining(all.state(slot), all.offset(slot), clock.now(limit));
    }

    /** Removes a locked key that is full again; else it stays locked. */
    private boolean removedIfFull(Table all, int slot) {
        boolean full = false;
        boolean asked = false;
        try {
            Limit limit = all.limit(slot);
            full = limit.fullAfterNanos(all.state(slot), all.offset(slot), clock.now(limit)) == 0;
            asked = true;
        } finally {
            if (!asked) {
                all.unlock(slot);
            }
        }
        if (!full) {
            return false;
        }
        all.remove(slot);
        taken--;
        keys.evictedFull();
        return true;
    }

    private void removeFull() {
        Table all = table;
        int slot = 0;
        for (int i = 0; i < all.slots(); i++, slot = all.next(slot)) {
            if (all.taken(slot) && all.tryLock(slot) && !removedIfFull(all, slot)) {
                all.unlock(slot);
            }
        }
    }

    /** The table, or a new one, if need be, with room for so many more keys and for states of this limit. */
    private Table tableFor(Limit limit, int more) {
        Table now = table;
        boolean fits = now.fits(limit);
        if (fits && !crowded(now, more)) {
            return now;
        }
        if (fits) {
            removeFull();
        }
        boolean keep = taken > 0;
        int stateSize = limit.grows() ? 1 : limit.stateSize();
        return rebuild(
                slotsFor(taken + more),
                keep ? Math.max(now.stateSize(), stateSize) : stateSize,
                limit.grows() || (keep && now.growing()));
    }

    private boolean crowded(Table now, int more) {
        if (now.slots() < mostSlots) {
            return used + more > CROWDED * now.slots();
        }
        return more > 0 && used > PACKED * now.slots() && taken < CROWDED * now.slots();
    }

    private int slotsFor(int wanted) {
        double slots = Math.max(LEAST_SLOTS, wanted * GROWTH / CROWDED);
        return (int) Math.min(slots, (double) mostSlots);
    }

    /** Moves all keys to a new table. */
    private Table rebuild(int slots, int stateSize, boolean growing) {
        Table old = table;
        Table fresh = new Table(slots, stateSize, growing);
        old.next = fresh;
        int slot = 0;
        for (int i = 0; i < old.slots(); i++, slot = old.next(slot)) {
            if (old.taken(slot) && old.lock(slot, old.hash(slot))) {
                move(old, slot, fresh);
                old.moved(slot);
            }
        }
        used = taken;
        table = fresh;
        return fresh;
    }

    private static void move(Table old, int slot, Table fresh) {
        long hash = old.hash(slot);
        int to = fresh.first(hash);
        while (fresh.taken(to)) {
            to = fresh.next(to);
        }
        old.copy(slot, fresh, to);
        fresh.publish(to, hash, old.limit(slot));
    }

    /** What a locked state comes to under another limit. */
    private long[] adopted(Table all, int slot, Limit limit) {
        Limit former = all.limit(slot);
        long[] state = all.copy(slot);
        long now = clock.now(limit);
        long[] adopted = new long[limit.stateSize()];
        limit.clear(adopted, 0, now);
        if (!limit.adopt(adopted, 0, former, state, now)) {
            long used = former.capacity() - former.remaining(state, 0, clock.now(former));
            long share = limit.share(used, former.capacity());
            if (share > 0) {
                adopted = limit.grow(adopted, share, now);
                limit.charge(adopted, 0, share, now);
            }
        }
        return adopted;
    }
}
