package dev.ratelimit.queue;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.Scheduler;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The callers who wait for one budget, and what is done for the first of them. Guarded by the {@link Hall}'s lock. */
final class Line {

    /** What is done for the head of a line; see the package. */
    enum State {
        /** Nothing, as nobody waits. */
        EMPTY,
        /** Its next attempt needs an alarm. */
        UNTIMED,
        /** Its next attempt has an alarm, or is about to get one. */
        TIMED,
        /** The store must be asked for it. */
        DUE,
        /** The executor was told to ask the store for it. */
        CALLED,
        /** A thread asks the store for it. */
        ASKED
    }

    /** No alarm is exact: a caller whose permits are due at its deadline still gets them. */
    static final long TOLERANCE_NANOS = 10_000_000;

    final Room room;
    final String key;

    /** In the order in which they are served. */
    private final TreeSet<Waiter> waiters;

    /** The sum of the permits that they wait for, in 128 bits. */
    private long permitsHigh;

    private long permitsLow;

    private State state = State.EMPTY;

    /** Counts what was begun for the line: an alarm or a task of another version is obsolete. */
    private long version;

    /** When the store need not be asked; {@code null} if it must be. */
    private @Nullable Due due;

    /** Whether permits were refunded while the store was asked, so that it may not have known. */
    private boolean woken;

    /** When to ask, if untimed or timed. */
    private long tryAt;

    private Scheduler.@Nullable Alarm alarm;

    /** Its place among the lines of the room, by length. */
    int place;

    /** Whether the usher has something to do for it, and the next line of which that is true. */
    boolean pending;

    @Nullable
    Line nextPending;

    Line(Room room, String key) {
        this.room = room;
        this.key = key;
        this.waiters = new TreeSet<>(room.order());
    }

    int size() {
        return waiters.size();
    }

    /** Who is served first; {@code null} if nobody waits. */
    @Nullable
    Waiter head() {
        return waiters.isEmpty() ? null : waiters.first();
    }

    /** Who is served last. */
    Waiter tail() {
        return waiters.last();
    }

    /** The permits that all wait for, at most {@link Long#MAX_VALUE}. */
    long permits() {
        return permitsHigh != 0 || permitsLow < 0 ? Long.MAX_VALUE : permitsLow;
    }

    /** Has a place for a caller who then {@linkplain #enter enters}. Without memory for it, nothing has changed. */
    void reserve(Waiter waiter) {
        waiters.add(waiter);
    }

    void enter(Waiter waiter, Charge at) {
        waiter.at = at;
        waiter.line = this;
        permitsLow += at.permits();
        permitsHigh += Long.compareUnsigned(permitsLow, at.permits()) < 0 ? 1 : 0;
    }

    void remove(Waiter waiter) {
        if (due != null && due.concerns(waiter)) {
            // others may have taken what it was told to wait for
            waiter.expected = Due.later(waiter.expected, due.tryAt());
        }
        waiters.remove(waiter);
        waiter.line = null;
        permitsHigh -= Long.compareUnsigned(permitsLow, waiter.at.permits()) < 0 ? 1 : 0;
        permitsLow -= waiter.at.permits();
    }

    /** Takes up what the store has answered to a caller who has come to the head of this line. */
    void learn(@Nullable Due answer) {
        if (state != State.ASKED) {
            due = answer;
        }
    }

    /** Permits were refunded, or limits have changed: whatever the store has answered before may be out of date. */
    void wake() {
        due = null;
        woken = true;
    }

    /** Whether it is certain without asking that a caller, once at the head, does not get its permits in time. */
    boolean isHopelessFor(Waiter waiter) {
        return due != null && due.concerns(waiter) && due.isTooLateFor(waiter.deadline);
    }

    boolean isAsked() {
        return state == State.ASKED;
    }

    /** Decides what to do next, unless a thread asks the store. Returns whether the usher has to do something new. */
    boolean plan() {
        if (state == State.ASKED) {
            return false;
        }
        Waiter head = head();
        if (head == null) {
            become(State.EMPTY);
            return alarm != null;
        }
        if (due == null || !due.concerns(head)) {
            return state != State.CALLED && become(State.DUE);
        }
        long at = due.nextTry(head.deadline);
        boolean same = (state == State.UNTIMED || state == State.TIMED) && tryAt == at;
        tryAt = at;
        return !same && become(State.UNTIMED);
    }

    @CanIgnoreReturnValue
    private boolean become(State next) {
        boolean changes = state != next || next == State.UNTIMED;
        if (changes) {
            state = next;
            version++;
        }
        return changes;
    }

    /** What the usher has to do, which it then does. Without memory to say so, nothing has changed. */
    Step step() {
        Step step = new Step(this, version, state, tryAt, alarm);
        alarm = null;
        if (state == State.UNTIMED) {
            state = State.TIMED;
        } else if (state == State.DUE) {
            state = State.CALLED;
        }
        return step;
    }

    /** For whom the thread that was called asks the store; {@code null} if that is obsolete. */
    @Nullable
    Waiter called(long callVersion) {
        Waiter head = state == State.CALLED && version == callVersion ? head() : null;
        if (head != null) {
            state = State.ASKED;
            woken = false;
        }
        return head;
    }

    /** The time for which the alarm of this version was set has come. Returns whether it matters. */
    boolean rings(long alarmVersion) {
        if (isTimed(alarmVersion)) {
            due = null;
            return become(State.DUE);
        }
        return false;
    }

    /** Keeps an alarm. Returns whether it matters. */
    boolean keeps(Scheduler.Alarm set, long alarmVersion) {
        if (isTimed(alarmVersion)) {
            alarm = set;
            return true;
        }
        return false;
    }

    private boolean isTimed(long alarmVersion) {
        return state == State.TIMED && version == alarmVersion;
    }

    /** An alarm could not be set, or nobody be called. Returns whether it matters; then the line is to be planned. */
    boolean fails(long begun) {
        return version == begun && restart();
    }

    /** What was begun for the head is obsolete, unless a thread asks the store; then the line is to be planned. */
    @CanIgnoreReturnValue
    boolean restart() {
        return state != State.ASKED && become(State.EMPTY);
    }

    /** The thread that was called has its answer, if it has not said so before. */
    void answered(long callVersion, @Nullable Due answer) {
        if (state == State.ASKED && version == callVersion) {
            due = woken ? null : answer;
            become(State.EMPTY);
        }
    }

    /** Whether permits were refunded since a thread has begun to ask the store. */
    boolean isWoken() {
        return woken;
    }

    /** Whether its callers wait for this budget. */
    boolean isFor(Charge charge) {
        return room.policy.equals(charge.policy().name()) && key.equals(charge.key());
    }
}
