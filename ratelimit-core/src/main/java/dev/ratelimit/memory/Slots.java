package dev.ratelimit.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Atomic access to the slots of a {@link Table} in its array: each is a header, followed by the longs of a state.
 *
 * <p>A state of one long is charged without locking it first: a thread reads it, decides, and replaces it if no other
 * thread has interfered. The lock is held for two stores, and not at all for a refusal. The state is read first and the
 * clock second: so a charge is never decided with a time before one that the state knows, however long a thread is
 * preempted in between.
 */
final class Slots {

    static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

    /**
     * All bits of a header except the lock. A handler releases a lock by writing this field, then reading it for the
     * header: whoever sees the header then sees the state. Only both order the writes on every machine; after a volatile
     * write alone, a plain one may become visible first.
     */
    static volatile long unlocking = ~Table.LOCK;

    private Slots() {}

    static long header(long[] longs, int slot) {
        return (long) LONGS.getAcquire(longs, slot);
    }

    /** The first long of the state, which may belong to another header than one that was read before. */
    static long state(long[] longs, int slot) {
        return (long) LONGS.getAcquire(longs, slot + 1);
    }

    /** Whether a state that was read before belongs to this header, which is unlocked. */
    static boolean holds(long[] longs, int slot, long header, long state) {
        // yes if the header is the same before and after reading the state
        return header(longs, slot) == header && state(longs, slot) == state;
    }

    /** Locks the slot if it has this header, which is unlocked. */
    static boolean lock(long[] longs, int slot, long header) {
        return LONGS.compareAndSet(longs, slot, header, header | Table.LOCK);
    }

    static void unlock(long[] longs, int slot, long header) {
        LONGS.setRelease(longs, slot, header);
    }

    /** Replaces a state of one long, if it and its header are still these. */
    static Outcome replace(long[] longs, int slot, long header, long state, long charged) {
        if (!lock(longs, slot, header)) {
            return Outcome.CONTENDED;
        }
        boolean same = longs[slot + 1] == state;
        try {
            if (same) {
                longs[slot + 1] = charged;
            }
            unlock(longs, slot, header);
        } catch (Throwable thrown) {
            if (same) {
                longs[slot + 1] = state;
            }
            unlocking = ~Table.LOCK;
            longs[slot] &= unlocking;
            throw thrown;
        }
        return same ? Outcome.ADMITTED : Outcome.CONTENDED;
    }
}
