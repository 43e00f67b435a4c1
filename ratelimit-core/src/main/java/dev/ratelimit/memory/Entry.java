package dev.ratelimit.memory;

import dev.ratelimit.Limit;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * What one key has used of one limit.
 *
 * <p>Of a limit of one long, {@code word} is the whole state, swapped by compare-and-set; of a limit of several it is a
 * mere lock. It is {@link #LOCKED} while one thread has the state to itself, and {@link #DEAD} for good once the entry has
 * left its keyspace: whoever meets that looks the key up again, so that no key ever has two states.
 *
 * <p>Read the state first and the clock second. Then no charge is decided by a time before one that the state already
 * knows, however long a thread is held up in between.
 */
final class Entry {

    static final long LOCKED = Long.MIN_VALUE;
    static final long DEAD = Long.MIN_VALUE + 1;

    private static final VarHandle WORD;
    private static final int SPINS_BEFORE_YIELD = 100;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(Entry.class, "word", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Limit limit;

    /** Orders entries, for locking several. */
    final long serial;

    /** The state of a limit of several longs, guarded by the lock; {@code null} for one. */
    private long @Nullable [] longs;

    private volatile long word;

    Entry(Limit limit, long serial, long[] state) {
        this.limit = limit;
        this.serial = serial;
        if (limit.stateSize() == 1) {
            this.word = distinct(state[0]);
        } else {
            this.longs = state;
        }
    }

    /** The state of a key never seen. */
    static long[] absent(Limit limit, long now) {
        long[] state = new long[limit.stateSize()];
        limit.clear(state, 0, now);
        return state;
    }

    boolean dead() {
        return word == DEAD;
    }

    /** The state of a limit of one long, or {@link #DEAD}; waits while it is locked. */
    @SuppressWarnings("ThreadPriorityCheck") // yielding only helps a holder that was preempted; nothing relies on it
    long word() {
        int spins = 0;
        long seen = word;
        while (seen == LOCKED) {
            if (spins++ < SPINS_BEFORE_YIELD) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
            seen = word;
        }
        return seen;
    }

    /** Replaces the state of a limit of one long, if it is still the expected one. */
    boolean swap(long expected, long next) {
        return WORD.compareAndSet(this, expected, distinct(next));
    }

    /** The state, for this thread alone until {@link #unlock} or {@link #kill}; {@code null} when the entry is dead. */
    long @Nullable [] lock() {
        while (true) {
            long seen = word();
            if (seen == DEAD) {
                return null;
            }
            if (WORD.compareAndSet(this, seen, LOCKED)) {
                return longs != null ? longs : new long[] {seen};
            }
        }
    }

    /** Gives back the state of {@link #lock}, as it is now; it may have been replaced by a larger array. */
    void unlock(long[] state) {
        if (longs == null) {
            WORD.setRelease(this, distinct(state[0]));
        } else {
            longs = state;
            WORD.setRelease(this, 0L);
        }
    }

    /** Ends the entry, while locked. */
    void kill() {
        WORD.setRelease(this, DEAD);
    }

    /** Keeps a state apart from the two marks, at the price of two ticks once in 2^63. */
    private static long distinct(long state) {
        return state <= DEAD ? state + 2 : state;
    }
}
