package dev.ratelimit.queue;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Scheduler;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The state of a queue: the rooms of its policies, and whoever waits in them. Thread-safe.
 *
 * <p>Each method that is called when something happens is one transition. It calls nothing foreign and completes no
 * future: who has left is to be answered in the same {@link Turn}, and {@link #next} says what is to be done for which
 * line.
 */
final class Hall {

    /** By the names of their policies. */
    private final Map<String, Room> rooms;

    @GuardedBy("this")
    private long arrivals;

    @GuardedBy("this")
    private boolean closed;

    /** The lines for which there is something to do, in this order. */
    @GuardedBy("this")
    private @Nullable Line firstPending;

    @GuardedBy("this")
    private @Nullable Line lastPending;

    Hall(Map<String, Waiting> policies) {
        Map<String, Room> all = new HashMap<>();
        policies.forEach((name, waiting) -> all.put(name, new Room(name, waiting)));
        rooms = Map.copyOf(all);
    }

    /**
     * The charge whose permits take longest; {@code null} if waiting does not help, or some policy that refuses does not
     * let callers wait as long as its own permits take. Those of a concurrency limit can come back at any moment.
     */
    @Nullable
    Charge longestWait(Decision refusal) {
        Charge at = null;
        long longest = 0;
        for (LimitStatus status : refusal.limits()) {
            long wait = status.retryAfterNanos();
            if (wait > 0) {
                Room room = rooms.get(status.policy().name());
                long certain = status.limit().concurrency() ? 0 : wait;
                if (room == null || wait == LimitAlgorithm.NEVER || certain > room.maxWaitNanos()) {
                    return null;
                }
                at = wait > longest ? status.charge() : at;
                longest = Math.max(longest, wait);
            }
        }
        return at;
    }

    /** How many wait for this policy. */
    int size(String policy) {
        Room room = rooms.get(policy);
        return room == null ? 0 : room.size();
    }

    /** How often permits of these policies were refunded: whoever was refused before must ask again. */
    long wakes(List<Charge> charges) {
        long sum = 0;
        for (Charge charge : charges) {
            Room room = rooms.get(charge.policy().name());
            sum += room == null ? 0 : room.wakes();
        }
        return sum;
    }

    /** The first charge that takes permits of a budget for which others wait; {@code null} if there is none. */
    @Nullable
    Charge contested(List<Charge> charges) {
        for (Charge charge : charges) {
            Room room = rooms.get(charge.policy().name());
            if (room != null && room.size() > 0 && charge.permits() > 0 && isContested(room, charge.key())) {
                return charge;
            }
        }
        return null;
    }

    private synchronized boolean isContested(Room room, String key) {
        Line line = room.line(key);
        return line != null && line.size() > 0;
    }

    /** The permits that those who are served before a newcomer wait for, at most {@link Long#MAX_VALUE}. */
    synchronized long permitsAhead(Charge at) {
        return room(at).permitsAhead(at.key());
    }

    /**
     * A newcomer joins the line in which it waits, or leaves at once if there is no room for it.
     *
     * @param ahead the permits ahead of it, as far as it knows
     * @param wakes of its policies, before the store was asked
     * @param due what the store has said about the line
     * @return false if there are more permits ahead of it by now; then nothing has happened
     */
    synchronized boolean join(Waiter waiter, long ahead, long wakes, @Nullable Due due, Turn turn) {
        Room room = room(waiter.at);
        if (room.permitsAhead(waiter.at.key()) > ahead) {
            return false;
        }
        if (closed) {
            turn.leaves(waiter);
            return true;
        }
        Due known = wakes(waiter.charges) == wakes ? due : null;
        waiter.number = arrivals;
        Line line = room.reserve(waiter.at.key(), waiter);
        arrivals++;
        enter(waiter, line, waiter.at, known, turn);
        return true;
    }

    /** Lets a caller into a line that has a place for it. */
    @GuardedBy("this")
    private void enter(Waiter waiter, Line line, Charge at, @Nullable Due due, Turn turn) {
        Waiter goes = line.room.enter(line, at, waiter);
        if (line.head() == waiter) {
            line.learn(due);
        }
        if (goes != null) {
            remove(goes, turn);
        }
        settle(line, turn);
    }

    /** Lets a caller out who waits. */
    @GuardedBy("this")
    private void remove(Waiter waiter, Turn turn) {
        Line line = waiter.line;
        if (line != null) {
            line.room.remove(waiter, line);
            turn.leaves(waiter);
            settle(line, turn);
        }
    }

    @GuardedBy("this")
    private void settle(Line line, Turn turn) {
        if (line.room.settle(line, turn)) {
            pend(line);
        }
    }

    @GuardedBy("this")
    private void pend(Line line) {
        if (line.pending) {
            return;
        }
        line.pending = true;
        if (lastPending == null) {
            firstPending = line;
        } else {
            lastPending.nextPending = line;
        }
        lastPending = line;
    }

    /** What is to be done next, by whoever calls this; {@code null} if nothing. */
    synchronized @Nullable Step next() {
        Line line = firstPending;
        if (line == null) {
            return null;
        }
        Step step = line.step();
        firstPending = line.nextPending;
        lastPending = firstPending == null ? null : lastPending;
        line.nextPending = null;
        line.pending = false;
        return step;
    }

    /** For whom the thread that was called asks the store; {@code null} if that is obsolete. */
    synchronized @Nullable Waiter called(Step call) {
        return call.line().called(call.version());
    }

    /** The time of a step has come. */
    synchronized void rings(Step timed) {
        if (timed.line().rings(timed.version())) {
            pend(timed.line());
        }
    }

    /** Keeps the alarm of a step. Returns false if nobody needs it any more. */
    synchronized boolean keeps(Step timed, Scheduler.Alarm alarm) {
        return timed.line().keeps(alarm, timed.version());
    }

    /** A step could not be done: the head of its line cannot be served. */
    synchronized void failed(Step step, Throwable failure, Turn turn) {
        Waiter head = step.line().head();
        if (head != null && step.line().fails(step.version())) {
            fail(head, failure, turn);
        }
    }

    synchronized boolean waits(Waiter waiter) {
        return waiter.line != null;
    }

    /** A caller cannot be served. */
    synchronized void fail(Waiter waiter, Throwable failure, Turn turn) {
        if (waiter.line != null) {
            waiter.failure = failure;
            remove(waiter, turn);
        }
    }

    /** A caller does not want to wait any more. */
    synchronized void left(Waiter waiter, Turn turn) {
        remove(waiter, turn);
    }

    /** The time of a caller is over. What was begun for it is begun anew for the next one: perhaps it was lost. */
    synchronized void expired(Waiter waiter, Turn turn) {
        if (waiter.line != null && waiter.line.head() == waiter) {
            waiter.line.restart();
        }
        remove(waiter, turn);
    }

    /**
     * Keeps the alarm that ends a wait.
     *
     * @return the alarm that nobody needs any more, if any: this one, or a later one
     */
    synchronized Scheduler.@Nullable Alarm keeps(Waiter waiter, Scheduler.Alarm alarm, long at) {
        Scheduler.Alarm former = waiter.expiry;
        if (waiter.line == null || (former != null && waiter.expiryAt - at <= 0)) {
            return alarm;
        }
        waiter.expiry = alarm;
        waiter.expiryAt = at;
        return former;
    }

    /** The store could not be asked for a caller. */
    synchronized void unanswered(Step call, Waiter waiter, Throwable failure, Turn turn) {
        call.line().answered(call.version(), null);
        fail(waiter, failure, turn);
        settle(call.line(), turn);
    }

    /**
     * The store has admitted a caller.
     *
     * @return whether the caller still waits for that
     */
    synchronized boolean admitted(Step call, Waiter waiter, Decision decision, @Nullable Due due, Turn turn) {
        boolean waits = waiter.line == call.line();
        call.line().answered(call.version(), due);
        if (waits) {
            waiter.admission = decision;
            remove(waiter, turn);
        }
        settle(call.line(), turn);
        return waits;
    }

    /**
     * The store has refused a caller, who goes on waiting if it can get its permits in time, perhaps in another line.
     *
     * @return whether its wait ends earlier than before
     */
    synchronized boolean refused(Step call, Waiter waiter, Outlook outlook, Turn turn) {
        Line line = call.line();
        boolean waits = waiter.line == line;
        boolean moves = waits && !line.isFor(outlook.at());
        long former = waiter.deadline;
        long deadline = moves ? Due.earlier(former, outlook.now() + maxWaitNanos(outlook.at())) : former;
        boolean stays = waits && outlook.allows(deadline, line.isWoken());
        Due known = wakes(waiter.charges) == outlook.wakes() ? outlook.there() : null;
        // before anything is written, as it needs memory
        Line to = moves && stays ? room(outlook.at()).reserve(outlook.at().key(), waiter) : line;
        line.answered(call.version(), outlook.here());
        if (waits) {
            waiter.last = outlook.refusal();
            waiter.lastAt = outlook.now();
            waiter.expected = outlook.now();
        }
        if (!stays) {
            remove(waiter, turn);
        } else if (to != line) {
            line.room.remove(waiter, line);
            waiter.deadline = deadline;
            enter(waiter, to, outlook.at(), known, turn);
        }
        settle(line, turn);
        return stays && deadline != former;
    }

    /** How long callers may wait for this policy, which must have a room. */
    long maxWaitNanos(Charge charge) {
        return room(charge).maxWaitNanos();
    }

    /**
     * From now on, callers may wait for a policy for this long.
     *
     * @throws IllegalArgumentException if nobody may wait for it
     */
    synchronized void maxWaitNanos(String policy, long nanos) {
        Room room = rooms.get(policy);
        if (room == null) {
            throw new IllegalArgumentException("no callers wait for policy " + policy);
        }
        room.maxWaitNanos(nanos);
    }

    /** Permits of a budget were refunded. Returns whether anybody is to be asked for. */
    @CanIgnoreReturnValue
    boolean wake(Policy policy, String key) {
        Room room = rooms.get(policy.name());
        return room != null && wake(room, key);
    }

    private synchronized boolean wake(Room room, String key) {
        room.countWake();
        Line line = room.line(key);
        return line != null && wake(line);
    }

    /** The limits of a policy have changed. Returns whether anybody is to be asked for. */
    synchronized boolean wake(String policy) {
        Room room = rooms.get(policy);
        boolean any = false;
        if (room != null) {
            room.countWake();
            for (Line line : room.lines()) {
                any |= wake(line);
            }
        }
        return any;
    }

    @GuardedBy("this")
    private boolean wake(Line line) {
        line.wake();
        boolean news = line.plan();
        if (news) {
            pend(line);
        }
        return news;
    }

    /** Everybody leaves, and nobody comes in any more. */
    synchronized void close(Turn turn) {
        List<Line> lines =
                rooms.values().stream().flatMap(room -> room.lines().stream()).toList();
        closed = true;
        for (Line line : lines) {
            for (Waiter head = line.head(); head != null; head = line.head()) {
                remove(head, turn);
            }
        }
    }

    private Room room(Charge charge) {
        Room room = rooms.get(charge.policy().name());
        if (room == null) {
            throw new IllegalStateException("policy " + charge.policy().name() + " has no queue");
        }
        return room;
    }
}
