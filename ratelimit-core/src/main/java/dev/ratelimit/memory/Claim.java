package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** What a transaction asks of one limit, and the slot of its state. Used again for one transaction after another. */
@SuppressWarnings("NullAway.Init") // set before it is used
final class Claim {

    private static final long[] NOTHING = {};

    Charge charge;
    Limit limit;

    private Keyspace keyspace;
    private Segment segment;
    private long hash;

    /** {@code null} when the key is not known: then it is full. */
    private @Nullable Table table;

    private int slot;

    /** A cleared state, for a key that is not known. */
    private long[] absent = NOTHING;

    private long now;

    void set(Charge asked, Limit met, Keyspace keys, long keyHash) {
        charge = asked;
        limit = met;
        keyspace = keys;
        segment = keys.segment(keyHash);
        hash = keyHash;
    }

    /** Keeps no table. */
    void clear() {
        table = null;
    }

    /** Finds the slot of the key; moves the key to this limit if it should. */
    void locate(boolean underThisLimit) {
        while (true) {
            find();
            if (table == null || !underThisLimit || table.has(slot, limit)) {
                return;
            }
            segment.change(hash, limit);
        }
    }

    private void find() {
        Table found = segment.table();
        int at = found.find(hash);
        while (at == Table.NONE) {
            found = found.next;
            if (found == null) {
                break;
            }
            at = found.find(hash);
        }
        table = found;
        slot = at;
    }

    /** Locks the slot; false when the key has left it, or got another limit. */
    boolean lock(boolean underThisLimit) {
        if (table == null) {
            return true;
        }
        if (!table.lock(slot, hash)) {
            return false;
        }
        if (underThisLimit && !TableLimits.same(limit, table.limit(slot))) {
            table.unlock(slot);
            return false;
        }
        return true;
    }

    void unlock() {
        if (table != null) {
            table.unlock(slot);
        }
    }

    boolean known() {
        return table != null;
    }

    /** Whether a key that was not known is known by now: it would be seen as of another moment than the others. */
    boolean appeared() {
        return table == null && segment.find(hash) != null;
    }

    boolean sameSlot(Claim other) {
        return table != null && table == other.table && slot == other.slot;
    }

    /** Whether this slot is to be locked before the other. */
    boolean before(Claim other) {
        if (keyspace.serial != other.keyspace.serial) {
            return keyspace.serial > other.keyspace.serial;
        }
        if (table == null || other.table == null) {
            return table == null && other.table != null;
        }
        return table == other.table ? slot > other.slot : table.serial > other.table.serial;
    }

    /** The slot is locked, and this is the time. */
    void at(StoreClock clock, long nanos) {
        now = limit.wallClock() ? clock.now(limit) : nanos;
        if (table == null) {
            if (absent.length != limit.stateSize()) {
                absent = new long[limit.stateSize()];
            }
            limit.clear(absent, 0, now);
        }
    }

    boolean admits(long permits) {
        return limit.admits(state(), offset(), permits, now);
    }

    /** Whether there is something to charge, and the key is not known. */
    boolean lacksKey() {
        return table == null && charge.permits() > 0;
    }

    boolean isOf(long keyHash) {
        return hash == keyHash;
    }

    /** Makes the key, for which these keep their place; or turns to the overflow when there is no place. */
    void addKey(LongPredicate kept) {
        if (!keyspace.add(hash, limit, kept)) {
            segment = keyspace.overflow();
            hash = Keyspace.OVERFLOW;
        }
    }

    /** Takes the limit of another claim to the same budget: each would change it for itself, without end. */
    void agree(Claim other) {
        if (segment == other.segment && hash == other.hash) {
            limit = other.limit;
        }
    }

    void charge() {
        if (table != null && charge.permits() > 0) {
            table.charge(slot, limit, charge.permits(), now);
        }
    }

    /** Gives back what was charged so long ago; in proportion, where the limit has been changed since. */
    void refund(StoreClock clock, long ageNanos) {
        if (table != null) {
            Limit held = table.limit(slot);
            long capacity = limit.capacity();
            long kept = held.share(capacity - charge.permits(), capacity);
            held.refund(state(), offset(), held.capacity() - kept, ageNanos, clock.now(held));
        }
    }

    void reset(StoreClock clock) {
        if (table != null) {
            Limit held = table.limit(slot);
            held.clear(state(), offset(), clock.now(held));
        }
    }

    LimitStatus status(boolean admitted, long permits) {
        long[] state = state();
        int at = offset();
        return new LimitStatus(
                charge.policy(),
                limit,
                limit.remaining(state, at, now),
                admitted ? 0 : limit.retryAfterNanos(state, at, permits, now),
                limit.nextAvailableNanos(state, at, now),
                limit.fullAfterNanos(state, at, now));
    }

    private long[] state() {
        return table == null ? absent : table.state(slot);
    }

    private int offset() {
        return table == null ? 0 : table.offset(slot);
    }
}
