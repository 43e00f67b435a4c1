package dev.ratelimit;

import dev.ratelimit.RateLimitQueue.Waiting;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The waiting rooms of all policies of a queue, by name. Its lock guards the rooms, their lines and who is served; it
 * is never held while the store is called or a future is completed.
 */
final class WaitingRooms {

    private final Map<String, WaitingRoom> rooms = new HashMap<>();
    private long arrivals;
    private boolean closed;

    /** Written under the lock. */
    private volatile long wakes;

    WaitingRooms(Map<String, Waiting> policies) {
        policies.forEach((name, waiting) -> rooms.put(name, new WaitingRoom(waiting)));
    }

    /** How callers wait for this policy; {@code null} if they cannot. */
    @Nullable
    Waiting waiting(Policy policy) {
        WaitingRoom room = rooms.get(policy.name());
        return room == null ? null : room.waiting;
    }

    /** The first charge to a budget that others wait for; {@code null} if nobody has to be let first. */
    synchronized @Nullable Charge contested(List<Charge> charges) {
        for (Charge charge : charges) {
            if (line(charge.policy(), charge.key()) != null) {
                return charge;
            }
        }
        return null;
    }

    /** The permits that those who are served before a newcomer wait for. */
    synchronized long permitsAhead(Charge at) {
        return room(at).permitsAhead(at.key());
    }

    /**
     * What became of a newcomer.
     *
     * @param goes who has to go: another caller, who has left its line; the newcomer if there is no room for it;
     *     {@code null} if nobody has to
     */
    record Entry(@Nullable Waiter goes) {}

    /**
     * Adds a caller, and sets its alarms before anybody else sees it.
     *
     * @param ahead the permits ahead with which its wait was computed
     * @return {@code null} if there are more ahead by now, so that nothing was done
     */
    synchronized @Nullable Entry join(Waiter waiter, Charge at, long ahead, Runnable alarms) {
        WaitingRoom room = room(at);
        if (room.permitsAhead(at.key()) > ahead) {
            return null;
        }
        if (closed) {
            return new Entry(waiter);
        }
        Waiter displaced = room.makeRoom(at.key());
        if (!room.hasRoom()) {
            return new Entry(waiter);
        }
        waiter.number = arrivals++;
        room.add(at, waiter);
        alarms.run();
        return new Entry(displaced);
    }

    /** Removes a caller, if it still waits; returns whom to serve next, if nobody does so. */
    synchronized @Nullable Waiter leave(Waiter waiter) {
        WaitingRoom.Line line = waiter.line;
        if (line == null) {
            return null;
        }
        WaitingRoom.remove(waiter);
        return line.serving ? null : line.head();
    }

    synchronized boolean isHead(Waiter waiter) {
        WaitingRoom.Line line = waiter.line;
        return line != null && line.head() == waiter;
    }

    /** Whether this thread may ask the store for a caller: it is the head, and no other thread does so. */
    synchronized boolean begin(Waiter waiter) {
        WaitingRoom.Line line = waiter.line;
        if (line == null || line.serving || line.head() != waiter) {
            return false;
        }
        line.serving = true;
        line.woken = false;
        waiter.asking = line;
        return true;
    }

    /**
     * Takes the caller out of its line, or puts it where it waits next; returns the new head if there is one, and the old
     * one if permits were refunded while the store was asked.
     */
    synchronized @Nullable Waiter end(Waiter waiter, @Nullable Charge at) {
        WaitingRoom.Line line = waiter.asking;
        waiter.asking = null;
        if (at == null) {
            WaitingRoom.remove(waiter);
        } else {
            WaitingRoom.move(waiter, room(at), at);
        }
        if (line == null) {
            return null;
        }
        line.serving = false;
        Waiter head = line.head();
        return head == waiter && !line.woken ? null : head;
    }

    /** How often permits were refunded: whoever was refused before must ask again. */
    long wakes() {
        return wakes;
    }

    /** Whom to serve because permits of this budget were refunded; {@code null} if nobody waits for it. */
    synchronized @Nullable Waiter wake(Policy policy, String key) {
        wakes++;
        WaitingRoom.Line line = line(policy, key);
        if (line == null) {
            return null;
        }
        line.woken = true;
        return line.head();
    }

    /** Whom to serve because the limits of this policy have changed. */
    synchronized List<Waiter> wake(String policy) {
        wakes++;
        WaitingRoom room = rooms.get(policy);
        return room == null ? List.of() : room.wake();
    }

    private WaitingRoom.@Nullable Line line(Policy policy, String key) {
        WaitingRoom room = rooms.get(policy.name());
        return room == null ? null : room.line(key);
    }

    synchronized int size(String policy) {
        WaitingRoom room = rooms.get(policy);
        return room == null ? 0 : room.size();
    }

    /** Lets nobody in any more; returns those who wait. */
    synchronized List<Waiter> close() {
        closed = true;
        List<Waiter> all = new ArrayList<>();
        rooms.values().forEach(room -> all.addAll(room.waiters()));
        return all;
    }

    private WaitingRoom room(Charge charge) {
        WaitingRoom room = rooms.get(charge.policy().name());
        if (room == null) {
            throw new IllegalStateException(
                    "nobody can wait for policy " + charge.policy().name());
        }
        return room;
    }
}
