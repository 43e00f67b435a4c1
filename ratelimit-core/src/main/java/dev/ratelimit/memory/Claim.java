package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitState;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Penalty;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * What a transaction asks of one limit, and the slot of its state. Reused for one transaction after another.
 *
 * <p>Several claims may use one slot, because keys without room share a budget: then the first of them, their lead,
 * locks the slot and asks for all. Changes are drafted outside the table, so that an exception leaves no partial change
 * in it.
 */
@SuppressWarnings("NullAway.Init") // set before it is used
final class Claim {

    private static final long[] NOTHING = {};

    /** A longer draft is not kept for the next transaction. */
    private static final int KEPT_DRAFT = 16;

    private Charge charge;
    private long permits;
    private LimitAlgorithm limit;
    private Keyspace keyspace;
    private Segment segment;
    private long hash;

    /** {@code null} if the key is unknown: then it is full. */
    @Nullable
    Table table;

    int slot;

    /** Whether the slot is locked for this claim. */
    boolean held;

    private Claim lead = this;

    /** The permits of all claims on the slot; only in the lead. */
    private long asked;

    /** The limit that interprets the state, the time on its timeline, and the state. */
    private LimitAlgorithm by;

    private long now;
    private long[] state = NOTHING;
    private int at;

    private boolean changed;

    /** Whether a converted state refuses and is full sooner than under its former limit: then it is written. */
    private boolean sooner;

    private boolean refuses;

    /** Whether this refusal starts a penalty, which is written. */
    private boolean penalized;

    private long[] draft = NOTHING;
    private boolean drafted;
    private boolean chargedInPlace;
    private boolean growing;
    private int size;
    private int number;

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
        by = null;
        table = null;
        lead = this;
        state = NOTHING;
        drafted = false;
        if (draft.length > KEPT_DRAFT) {
            draft = NOTHING;
        }
    }

    long hash() {
        return hash;
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
        lead = this;
        asked = permits;
        drafted = false;
        chargedInPlace = false;
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
            lead = before.lead;
            long sum = lead.asked + permits;
            lead.asked = sum < 0 ? Long.MAX_VALUE : sum;
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

    boolean leads() {
        return lead == this;
    }

    /** Reads the locked state for the requested limit; the state of another limit is converted, in a draft. */
    void read(Moment moment) {
        by = limit;
        now = moment.on(limit);
        changed = false;
        sooner = false;
        penalized = false;
        Table own = table;
        if (own == null) {
            draft = draft.length == limit.stateSize() ? draft : new long[limit.stateSize()];
            limit.clear(draft, 0, now);
            stateIs(draft, 0);
            return;
        }
        LimitAlgorithm former = own.limit(slot);
        stateIs(own.state(slot), own.offset(slot));
        if (!TableLimits.same(limit, former)) {
            long then = moment.on(former);
            StoreClock.rememberStep(former, state, at, then);
            long fullAfter = former.fullAfterNanos(state, at, then);
            draft = new LimitState(former, state, at).carriedTo(limit, then, now);
            stateIs(draft, 0);
            changed = true;
            sooner = !limit.admits(draft, 0, asked, now) && limit.fullAfterNanos(draft, 0, now) < fullAfter;
        }
    }

    /** Reads the locked state for the limit that wrote it. */
    void readAsWritten(Moment moment) {
        if (table != null) {
            by = table.limit(slot);
            now = moment.on(by);
            changed = false;
            stateIs(table.state(slot), table.offset(slot));
            StoreClock.rememberStep(by, state, at, now);
        }
    }

    private void stateIs(long[] array, int from) {
        state = array;
        at = from;
    }

    /** Whether the state was converted from another limit. */
    boolean changed() {
        return changed;
    }

    boolean admits() {
        refuses = lead == this && !by.admits(state, at, asked, now);
        return !refuses;
    }

    /** The number of limits of the charge, whose claims come one after another. */
    int limits() {
        return charge.policy().limits().size();
    }

    /**
     * After a refusal, whether this limit refused.
     *
     * @param onlyByChanged whether only limits refused whose states were converted
     */
    boolean refuses(boolean onlyByChanged) {
        sooner &= onlyByChanged;
        return lead.refuses;
    }

    /** Starts the penalty of this charge's policy; a budget that several keys share has none. */
    void penalize() {
        if (permits > 0 && !paidByOverflow() && lead.by instanceof Penalty penalty) {
            lead.penalized |= penalty.starts(lead.state, lead.at, lead.now);
        }
    }

    /** Whether something must be written and the key is unknown, or its table has no room for this limit yet. */
    boolean lacksPlace(boolean admitted) {
        if (table == null) {
            return admitted ? permits > 0 : penalized;
        }
        boolean written = admitted ? asked > 0 : sooner || penalized;
        if (lead != this || !changed || !written) {
            return false;
        }
        number = table.limits.known(limit);
        return number < 0 || !table.fits(limit);
    }

    /**
     * Adds the key or, if it has another limit, makes room for this one.
     *
     * @param kept the hashes of keys that must not be evicted to make room
     * @param patient whether to look for room; otherwise the overflow is charged
     */
    void makePlace(LongPredicate kept, boolean patient) {
        if (table != null) {
            if (lead == this && changed) {
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
        if (lead == this && table != null && asked > 0) {
            if (inPlace()) {
                table.makeRoom(slot, by, asked, now);
                stateIs(table.state(slot), 0);
            } else {
                begin();
                draft = by.grow(draft, 0, asked, now);
                by.charge(draft, 0, asked, now);
                stateIs(draft, 0);
            }
        }
    }

    /** Charges a growing state in place: copying it could take long. */
    void chargeInPlace() {
        if (lead == this && table != null && asked > 0 && inPlace()) {
            by.charge(state, at, asked, now);
            chargedInPlace = true;
        }
    }

    /** Reverts a charge in place. */
    void takeBack() {
        if (chargedInPlace) {
            by.refund(state, at, asked, 0, now);
        }
    }

    /** Starts a penalty; and keeps a converted state although the charge is refused, if the key is full sooner. */
    void draftRefusal() {
        if (lead == this && table != null && (penalized || (changed && sooner))) {
            begin();
            if (penalized && by instanceof Penalty penalty) {
                penalty.refuse(state, at, now);
            }
        }
    }

    /** Drafts the refund of that decision; in proportion if the limit has changed since. */
    void draftRefund(Answer decided, Moment moment) {
        if (table != null) {
            lead.begin();
            new LimitState(by, lead.state, lead.at).refund(limit, permits, decided.age(by, moment), now);
        }
    }

    void draftReset() {
        if (table != null) {
            lead.begin();
            by.clear(lead.state, lead.at, now);
        }
    }

    private boolean inPlace() {
        return by.grows() && !changed;
    }

    private void begin() {
        if (!drafted) {
            growing = by.grows();
            size = growing ? state.length : by.stateSize();
            if (!changed) {
                draft = draft.length == size ? draft : new long[size];
                System.arraycopy(state, at, draft, 0, size);
                stateIs(draft, 0);
            }
            drafted = true;
        }
    }

    /** Writes the drafts of some claims without a method call, so that nothing can be thrown. */
    @SuppressWarnings("NullAway") // a drafted claim has a table with room for the limit
    static void publish(Claim[] claims, int count) {
        for (int i = 0; i < count; i++) {
            Claim claim = claims[i];
            if (claim.drafted) {
                Table to = claim.table;
                int index = claim.slot / to.stride;
                if (to.grown != null) {
                    to.grown[index] = claim.growing ? claim.draft : null;
                }
                for (int k = 0; !claim.growing && k < claim.size; k++) {
                    to.longs[claim.slot + 1 + k] = claim.draft[k];
                }
                if (claim.changed) {
                    if (claim.number == TableLimits.NUMBERED) {
                        to.limits.bySlot[index] = claim.limit;
                    }
                    to.longs[claim.slot] = claim.hash | claim.number | Table.LOCK;
                }
                claim.draft = claim.growing ? NOTHING : claim.draft;
                claim.drafted = false;
            }
            claim.chargedInPlace = false;
        }
    }

    LimitStatus status(boolean admitted) {
        LimitState stands = new LimitState(lead.by, lead.state, lead.at);
        return admitted ? stands.admitted(charge, lead.now) : stands.refused(charge, lead.asked, lead.now);
    }
}
