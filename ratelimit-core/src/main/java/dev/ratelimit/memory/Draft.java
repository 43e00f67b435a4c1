package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitState;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Penalty;

/**
 * The state in one slot as a transaction has read it, and then what it will write there: changes are made outside the
 * table, so that an exception leaves no partial change in it. Reused for one transaction after another.
 *
 * <p>Its life, with the slot locked from the first reading to the end:
 *
 * <pre>
 * begin, askFor          the permits that are asked for
 * read                   the limit that interprets the state, the time, and the state; whether it was converted
 * admits, penalize       whether the limit refuses, and what a refusal writes
 * charge, refuse, …      a changed copy of the state, if it is to be written
 * publish                nothing: what was drafted is in the table
 * </pre>
 */
final class Draft {

    private static final long[] NOTHING = {};

    /** A longer copy is not kept for the next transaction. */
    private static final int KEPT_LENGTH = 16;

    /** The permits of all claims on the slot. */
    private long asked;

    /** The limit that interprets the state, the time on its timeline, and the state. */
    @SuppressWarnings("NullAway.Init") // read before it is used
    private LimitAlgorithm by;

    private long now;
    private long[] state = NOTHING;
    private int at;

    /** Whether the state is a copy, converted from the limit that wrote it. */
    private boolean converted;

    /** Whether the limit has changed for the key: one that was full under the former limit is as good as unknown. */
    private boolean changed;

    /** Whether a converted state refuses and is full sooner than under its former limit: then it is written. */
    private boolean sooner;

    private boolean refuses;

    /** Whether this refusal starts a penalty, which is written. */
    private boolean penalized;

    /** A copy of the state, to convert or change it. */
    private long[] copy = NOTHING;

    /** Whether the copy is to be written. */
    private boolean drafted;

    /** How many longs of it; or whether it grows, and then replaces the former array. */
    private int size;

    private boolean growing;

    /** The number of the limit in the table, if the state was converted. */
    private int number;

    /** Whether a growing state was charged where it is. */
    private boolean chargedInPlace;

    /** Forgets what was drafted before. */
    void begin(long permits) {
        asked = permits;
        drafted = false;
        chargedInPlace = false;
    }

    /** Adds the permits of one more claim. */
    void askFor(long permits) {
        long sum = asked + permits;
        asked = sum < 0 ? Long.MAX_VALUE : sum;
    }

    /** Releases the limit, the state and a long copy. */
    @SuppressWarnings("NullAway") // read again before it is used
    void clear() {
        by = null;
        state = NOTHING;
        drafted = false;
        if (copy.length > KEPT_LENGTH) {
            copy = NOTHING;
        }
    }

    /** Reads the state of an unknown key: full. */
    void readUnknown(LimitAlgorithm limit, Moment moment) {
        interpret(limit, moment);
        copy = copy.length == limit.stateSize() ? copy : new long[limit.stateSize()];
        limit.clear(copy, 0, now);
        stateIs(copy, 0);
    }

    /** Reads a state for this limit; converts that of another one. */
    void read(Table table, int slot, LimitAlgorithm limit, Moment moment) {
        interpret(limit, moment);
        stateIs(table.state(slot), table.offset(slot));
        LimitAlgorithm former = table.limit(slot);
        if (!TableLimits.same(limit, former)) {
            convert(former, moment.on(former));
        }
    }

    /** Reads a state for the limit that wrote it. */
    void readAsWritten(Table table, int slot, Moment moment) {
        interpret(table.limit(slot), moment);
        stateIs(table.state(slot), table.offset(slot));
    }

    private void interpret(LimitAlgorithm limit, Moment moment) {
        by = limit;
        now = moment.on(limit);
        converted = false;
        changed = false;
        sooner = false;
        penalized = false;
    }

    private void stateIs(long[] array, int from) {
        state = array;
        at = from;
    }

    private void convert(LimitAlgorithm former, long then) {
        copy = new LimitState(former, state, at).carriedTo(by, then, now);
        long fullAfter = former.fullAfterNanos(state, at, then);
        stateIs(copy, 0);
        converted = true;
        changed = fullAfter > 0;
        sooner = !by.admits(copy, 0, asked, now) && by.fullAfterNanos(copy, 0, now) < fullAfter;
    }

    boolean converted() {
        return converted;
    }

    boolean changed() {
        return changed;
    }

    boolean admits() {
        refuses = !by.admits(state, at, asked, now);
        return !refuses;
    }

    /**
     * After a refusal of the transaction, whether this limit refused.
     *
     * @param onlyChanged whether only limits refused that have changed for their keys
     */
    boolean refuses(boolean onlyChanged) {
        sooner &= onlyChanged;
        return refuses;
    }

    void penalize() {
        if (by instanceof Penalty penalty) {
            penalized |= penalty.starts(state, at, now);
        }
    }

    /** Whether something is to be written after this decision. */
    boolean isToWrite(boolean admitted) {
        return admitted ? asked > 0 : sooner || penalized;
    }

    /** Whether the table has no room yet for the limit of a converted state. */
    boolean lacksPlace(Table table) {
        if (!converted) {
            return false;
        }
        number = table.limits.known(by);
        return number < 0 || !table.fits(by);
    }

    /** Charges a copy; a growing state only gets room, because copying it could take long. */
    void charge(Table table, int slot) {
        if (asked == 0) {
            return;
        }
        if (isInPlace()) {
            table.makeRoom(slot, by, asked, now);
            stateIs(table.state(slot), 0);
        } else {
            copyState();
            copy = by.grow(copy, 0, asked, now);
            by.charge(copy, 0, asked, now);
            stateIs(copy, 0);
        }
    }

    /** Charges a growing state where it is, when nothing of the transaction can be refused any more. */
    void chargeInPlace() {
        if (asked > 0 && isInPlace()) {
            by.charge(state, at, asked, now);
            chargedInPlace = true;
        }
    }

    private boolean isInPlace() {
        return by.grows() && !converted;
    }

    void takeBack() {
        if (chargedInPlace) {
            by.refund(state, at, asked, 0, now);
        }
    }

    /** Starts a penalty; and keeps a converted state although the charge is refused, if the key is full sooner. */
    void refuse() {
        if (penalized || (converted && sooner)) {
            copyState();
            if (penalized && by instanceof Penalty penalty) {
                penalty.refuse(state, at, now);
            }
        }
    }

    /** Refunds permits that this limit was charged by that decision. */
    void refund(LimitAlgorithm limit, long permits, Receipt paid, Moment moment) {
        copyState();
        new LimitState(by, state, at).refund(limit, permits, paid.age(by, moment), now);
    }

    void reset() {
        copyState();
        by.clear(state, at, now);
    }

    /** From now on, the state is a copy, which is to be written. */
    private void copyState() {
        if (!drafted) {
            growing = by.grows();
            size = growing ? state.length : by.stateSize();
            if (!converted) {
                copy = copy.length == size ? copy : new long[size];
                System.arraycopy(state, at, copy, 0, size);
                stateIs(copy, 0);
            }
            drafted = true;
        }
    }

    /** Writes the drafts of some claims without a method call, so that nothing can be thrown. */
    @SuppressWarnings("NullAway") // a drafted claim has a table with room for the limit
    static void publish(Claim[] claims, int count) {
        for (int i = 0; i < count; i++) {
            Draft draft = claims[i].own;
            if (draft.drafted) {
                Table to = claims[i].table;
                int slot = claims[i].slot;
                int index = slot / to.stride;
                if (to.grown != null) {
                    to.grown[index] = draft.growing ? draft.copy : null;
                }
                for (int k = 0; !draft.growing && k < draft.size; k++) {
                    to.longs[slot + 1 + k] = draft.copy[k];
                }
                if (draft.converted) {
                    if (draft.number == TableLimits.NUMBERED) {
                        to.limits.bySlot[index] = draft.by;
                    }
                    to.longs[slot] = claims[i].hash | draft.number | Table.LOCK;
                }
                draft.copy = draft.growing ? NOTHING : draft.copy;
                draft.drafted = false;
            }
            draft.chargedInPlace = false;
        }
    }

    LimitStatus status(Charge charge, boolean admitted) {
        LimitState stands = new LimitState(by, state, at);
        return admitted ? stands.admitted(charge, now) : stands.refused(charge, asked, now);
    }
}
