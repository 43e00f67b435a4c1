package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * What a transaction asks of one limit, and where: the slot of the key's state. What is to be written there is its
 * {@link Draft}. Reused for one transaction after another.
 *
 * <p>Its life: {@link #set} says whose budget to charge, until {@link #clear}. {@link #locate} finds the slot, and
 * {@link #lock} locks it; if the slot no longer belongs to the key, both are repeated. Everything else, except making
 * room, is done while all slots of the transaction are locked.
 *
 * <p>Several claims may use one slot, because keys without room share a budget: then the first of them, which leads,
 * locks the slot, and the others use its draft.
 */
final class Claim {

    @SuppressWarnings("NullAway.Init") // as the next three: set before it is used
    private Charge charge;

    private long permits;

    /** The requested limit; the key may be under another one. */
    @SuppressWarnings("NullAway.Init")
    private LimitAlgorithm limit;

    @SuppressWarnings("NullAway.Init")
    private Keyspace keyspace;

    /** Of the key or, if it pays by the overflow, the overflow of its keyspace. */
    @SuppressWarnings("NullAway.Init")
    private Segment segment;

    long hash;

    /** {@code null} if the key is unknown: then it is full, has no slot, and is not locked. */
    @Nullable
    Table table;

    int slot;

    /** Whether the slot is locked for this claim. */
    boolean held;

    /** Used while this claim leads. */
    final Draft own = new Draft();

    /** That of the claim that leads on the slot. */
    private Draft draft = own;

    void set(Charge asks, LimitAlgorithm met, Keyspace keys, long keyHash) {
        charge = asks;
        permits = asks.permits();
        limit = met;
        keyspace = keys;
        segment = keys.segment(keyHash);
        hash = keyHash;
    }

    /** Releases the key, the table and anything large. */
    @SuppressWarnings("NullAway") // set again before they are used
    void clear() {
        charge = null;
        limit = null;
        keyspace = null;
        segment = null;
        table = null;
        draft = own;
        own.clear();
    }

    /** Finds the slot of the key. */
    void locate() {
        Table found = segment.table();
        int place = found.find(hash);
        while (place == Table.NONE) {
            found = found.next;
            if (found == null) {
                break;
            }
            place = found.find(hash);
        }
        table = found;
        slot = place;
        draft = own;
        own.begin(permits);
    }

    /**
     * The order in which slots are locked: newest keyspace, newest table and last slot first; unknown keys before
     * others.
     */
    static int inOrderOfLocking(Claim one, Claim other) {
        if (one.keyspace.serial != other.keyspace.serial) {
            return one.keyspace.serial > other.keyspace.serial ? -1 : 1;
        }
        Table table = one.table;
        Table others = other.table;
        if (table == null || others == null) {
            return Boolean.compare(table != null, others != null);
        }
        return table == others ? Integer.compare(other.slot, one.slot) : Long.compare(others.serial, table.serial);
    }

    /** Locks the slot, unless the claim before has; false if the key is no longer there. */
    boolean lock(@Nullable Claim before) {
        if (table == null) {
            return true;
        }
        if (before != null && before.table == table && before.slot == slot) {
            draft = before.draft;
            draft.askFor(permits);
            return true;
        }
        held = table.lock(slot, hash);
        return held;
    }

    void unlock() {
        if (held && table != null) {
            table.unlock(slot);
            held = false;
        }
    }

    /** Whether an unknown key has been added in the meantime: it would be seen at another moment than the others. */
    boolean nowExists() {
        return table == null && segment.find(hash) != null;
    }

    /** Whether wall time is needed. */
    boolean wallClock() {
        return limit.wallClock() || (table != null && table.limit(slot).wallClock());
    }

    private boolean leads() {
        return draft == own;
    }

    /** Reads the state for the requested limit. */
    void read(Moment moment) {
        if (table == null) {
            own.readUnknown(limit, moment);
        } else if (leads()) {
            own.read(table, slot, limit, moment);
        }
    }

    /** Reads the state for the limit that wrote it. */
    void readAsWritten(Moment moment) {
        if (table != null && leads()) {
            own.readAsWritten(table, slot, moment);
        }
    }

    /** Whether the limit has changed for the key. */
    boolean changed() {
        return draft.changed();
    }

    boolean admits() {
        return !leads() || own.admits();
    }

    /** The number of limits of the charge, whose claims come one after another. */
    int limits() {
        return charge.policy().limits().size();
    }

    /**
     * After a refusal, whether this limit refused.
     *
     * @param onlyChanged whether only limits refused that have changed for their keys
     */
    boolean refuses(boolean onlyChanged) {
        return draft.refuses(onlyChanged);
    }

    /** Starts the penalty of this charge's policy; a budget that several keys share has none. */
    void penalize() {
        if (permits > 0 && !paidByOverflow()) {
            draft.penalize();
        }
    }

    /** Whether something must be written and the key is unknown, or its table has no room for this limit yet. */
    boolean lacksPlace(boolean admitted) {
        return leads() && own.isToWrite(admitted) && (table == null || own.lacksPlace(table));
    }

    /**
     * Adds the key or, if it has another limit, makes room for this one.
     *
     * @param kept the hashes of keys that must not be evicted to make room
     * @param patient whether to look for room; otherwise the overflow is charged
     */
    void makePlace(LongPredicate kept, boolean patient) {
        if (table != null) {
            if (leads() && own.converted()) {
                segment.prepare(limit);
            }
        } else if (permits > 0) {
            if (segment == keyspace.overflow()) {
                keyspace.addOverflow(limit);
            } else if (!patient) {
                turnToOverflow();
            } else if (!keyspace.add(hash, limit, kept)) {
                turnToOverflow();
            }
        }
    }

    /** From now on, uses the limit's budget in the overflow. */
    void turnToOverflow() {
        segment = keyspace.overflow();
        hash = Keyspace.overflowOf(limit);
    }

    boolean paidByOverflow() {
        return segment == keyspace.overflow();
    }

    /** Drafts the state after the charge; a growing state only gets room. */
    void draftCharge() {
        if (table != null && leads()) {
            own.charge(table, slot);
        }
    }

    /** Charges a growing state in place. */
    void chargeInPlace() {
        if (table != null && leads()) {
            own.chargeInPlace();
        }
    }

    /** Reverts a charge in place. */
    void takeBack() {
        own.takeBack();
    }

    /** Drafts what a refusal writes. */
    void draftRefusal() {
        if (table != null && leads()) {
            own.refuse();
        }
    }

    /** Drafts the refund of that decision; in proportion if the limit has changed since. */
    void draftRefund(Receipt paid, Moment moment) {
        if (table != null) {
            draft.refund(limit, permits, paid, moment);
        }
    }

    void draftReset() {
        if (table != null) {
            draft.reset();
        }
    }

    LimitStatus status(boolean admitted) {
        return draft.status(charge, admitted);
    }
}
