package dev.ratelimit;

import dev.ratelimit.RateLimitQueue.Order;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The callers who wait for permits of one policy, in one line per key. Guarded by the lock of its {@link WaitingRooms}.
 */
final class WaitingRoom {

    final RateLimitQueue.Waiting waiting;

    private final Map<String, Line> lines = new HashMap<>();

    /** To find the longest line: the lines by their length, without empty ones. */
    private final TreeMap<Integer, Set<Line>> byLength = new TreeMap<>();

    private int size;

    WaitingRoom(RateLimitQueue.Waiting waiting) {
        this.waiting = waiting;
    }

    /** The callers who wait for one budget, by the number of their arrival. */
    static final class Line {

        private final WaitingRoom room;
        private final String key;
        private final NavigableMap<Long, Waiter> waiters = new TreeMap<>();
        private long permits;

        /** Whether a thread asks the store for the head. */
        boolean serving;

        /** Whether permits were refunded since the store was asked. */
        boolean woken;

        private Line(WaitingRoom room, String key) {
            this.room = room;
            this.key = key;
        }

        int size() {
            return waiters.size();
        }

        /** Who is served first. */
        @Nullable
        Waiter head() {
            Map.Entry<Long, Waiter> entry = oldestFirst() ? waiters.firstEntry() : waiters.lastEntry();
            return entry == null ? null : entry.getValue();
        }

        /** Who is served last. */
        private Waiter tail() {
            return (oldestFirst() ? waiters.lastEntry() : waiters.firstEntry()).getValue();
        }

        private boolean oldestFirst() {
            return room.waiting.order() == Order.OLDEST_FIRST;
        }
    }

    int size() {
        return size;
    }

    boolean hasRoom() {
        return size < waiting.maxWaiting();
    }

    /** The line of a key; {@code null} if nobody waits in it. */
    @Nullable
    Line line(String key) {
        return lines.get(key);
    }

    /** The permits that those who are served before a newcomer wait for. */
    long permitsAhead(String key) {
        Line line = lines.get(key);
        return line == null || waiting.order() == Order.NEWEST_FIRST ? 0 : line.permits;
    }

    /**
     * Who has to go so that a newcomer of this key can wait, after it was removed; {@code null} if nobody has to, or
     * nobody can.
     */
    @Nullable
    Waiter makeRoom(String key) {
        if (hasRoom() || byLength.isEmpty()) {
            return null;
        }
        Line own = lines.get(key);
        int length = own == null ? 0 : own.size();
        Line longest = byLength.lastEntry().getValue().iterator().next();
        boolean fairer = longest.size() > length + 1;
        if (waiting.order() == Order.OLDEST_FIRST && !fairer) {
            return null;
        }
        Waiter goes = fairer || own == null ? longest.tail() : own.tail();
        remove(goes);
        return goes;
    }

    /** Adds a waiter, in the order of arrival. */
    void add(Charge at, Waiter waiter) {
        Line line = lines.computeIfAbsent(at.key(), key -> new Line(this, key));
        resize(line, 1);
        line.waiters.put(waiter.number, waiter);
        line.permits += at.permits();
        waiter.permits = at.permits();
        waiter.line = line;
    }

    /** Removes a waiter, if it still waits. */
    static void remove(Waiter waiter) {
        Line line = waiter.line;
        if (line != null) {
            line.room.resize(line, -1);
            line.waiters.remove(waiter.number);
            line.permits -= waiter.permits;
            waiter.line = null;
            if (line.waiters.isEmpty()) {
                line.room.lines.remove(line.key);
            }
        }
    }

    /** Moves a waiter to the line of another budget, unless it is there or has left. */
    static void move(Waiter waiter, WaitingRoom to, Charge at) {
        Line line = waiter.line;
        if (line != null && !(line.room == to && line.key.equals(at.key()))) {
            remove(waiter);
            to.add(at, waiter);
        }
    }

    /** Who is served first in each line, which asks again. */
    List<Waiter> wake() {
        lines.values().forEach(line -> line.woken = true);
        return lines.values().stream().map(Line::head).filter(Objects::nonNull).toList();
    }

    List<Waiter> waiters() {
        List<Waiter> all = new ArrayList<>(size);
        lines.values().forEach(line -> all.addAll(line.waiters.values()));
        return all;
    }

    /** Before a waiter comes or goes. */
    private void resize(Line line, int change) {
        int length = line.size();
        Set<Line> same = byLength.get(length);
        if (same != null) {
            same.remove(line);
            if (same.isEmpty()) {
                byLength.remove(length);
            }
        }
        if (length + change > 0) {
            byLength.computeIfAbsent(length + change, any -> new LinkedHashSet<>())
                    .add(line);
        }
        size += change;
    }
}
