package dev.ratelimit.queue;

import dev.ratelimit.Charge;
import dev.ratelimit.queue.RateLimitQueue.Order;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The callers who wait for permits of one policy, in one line per key. Guarded by the {@link Hall}'s lock. */
final class Room {

    private static final Comparator<Waiter> OLDEST_FIRST = (one, other) -> Long.compare(one.number, other.number);
    private static final Comparator<Waiter> NEWEST_FIRST = (one, other) -> Long.compare(other.number, one.number);

    final String policy;

    private final Waiting waiting;

    /** Of those who come from now on. Written under the lock, and read at any time. */
    private volatile long maxWaitNanos;

    private final Map<String, Line> lines = new HashMap<>();

    /** A heap of the lines by their lengths, the longest first; each line knows its place. */
    private Line[] byLength = new Line[4];

    /** Written under the lock, and read at any time. */
    private volatile int size;

    /** Counts how often permits were refunded or limits have changed. Written and read like the size. */
    private volatile long wakes;

    Room(String policy, Waiting waiting) {
        this.policy = policy;
        this.maxWaitNanos = waiting.maxWait().toNanos();
        this.waiting = waiting;
    }

    Comparator<Waiter> order() {
        return isNewestFirst() ? NEWEST_FIRST : OLDEST_FIRST;
    }

    private boolean isNewestFirst() {
        return waiting.order() == Order.NEWEST_FIRST;
    }

    long maxWaitNanos() {
        return maxWaitNanos;
    }

    void maxWaitNanos(long nanos) {
        maxWaitNanos = nanos;
    }

    /** How many wait. */
    int size() {
        return size;
    }

    long wakes() {
        return wakes;
    }

    void countWake() {
        long before = wakes;
        wakes = before + 1;
    }

    /** The line of a key; {@code null} if nobody waits in it. */
    @Nullable
    Line line(String key) {
        return lines.get(key);
    }

    Collection<Line> lines() {
        return lines.values();
    }

    /** The permits that those who are served before a newcomer wait for, at most {@link Long#MAX_VALUE}. */
    long permitsAhead(String key) {
        Line line = lines.get(key);
        return line == null || isNewestFirst() ? 0 : line.permits();
    }

    /**
     * Has a place in the line of a key for a caller who then {@linkplain #enter enters}. Without memory for it, nothing
     * has changed.
     */
    Line reserve(String key, Waiter waiter) {
        Line known = lines.get(key);
        if (known != null) {
            known.reserve(waiter);
            return known;
        }
        Line line = new Line(this, key);
        line.reserve(waiter);
        if (lines.size() == byLength.length) {
            byLength = Arrays.copyOf(byLength, 2 * byLength.length);
        }
        boolean kept = false;
        try {
            lines.put(key, line);
            kept = true;
        } finally {
            if (!kept) {
                // a map that cannot grow has it nevertheless
                lines.remove(key);
            }
        }
        line.place = lines.size() - 1;
        byLength[line.place] = line;
        return line;
    }

    /** Lets a caller in; returns who has to go for it, perhaps the caller itself; {@code null} if there is room. */
    @Nullable
    Waiter enter(Line line, Charge at, Waiter waiter) {
        line.enter(waiter, at);
        resize(1);
        sift(line);
        return size > waiting.maxWaiting() ? lastOf(line) : null;
    }

    /**
     * Who goes if there is one caller too many, and this line has just become longer: the last one of the longest line,
     * and of this line if that is as long. But who has just come to an empty line stays, if newcomers are served first.
     */
    private Waiter lastOf(Line line) {
        Line longest = byLength[0];
        if (longest.size() > line.size()) {
            return longest.tail();
        }
        if (isNewestFirst() && line.size() == 1) {
            Line other = longest != line ? longest : longer(1, 2);
            return other == null || other.size() == 0 ? line.tail() : other.tail();
        }
        return line.tail();
    }

    /** Lets a caller out, whose line is then to be {@linkplain #settle settled}. */
    void remove(Waiter waiter, Line line) {
        line.remove(waiter);
        resize(-1);
        sift(line);
    }

    /**
     * Lets those at the head of a line out who certainly come too late, and decides what is done for the next one.
     * Returns whether the usher has to do something new.
     */
    boolean settle(Line line, Turn turn) {
        if (line.isAsked()) {
            return false;
        }
        for (Waiter head = line.head(); head != null && line.isHopelessFor(head); head = line.head()) {
            remove(head, line);
            turn.leaves(head);
        }
        boolean news = line.plan();
        if (line.size() == 0) {
            drop(line);
        }
        return news;
    }

    private void drop(Line line) {
        if (lines.remove(line.key) == null) {
            return;
        }
        Line last = byLength[lines.size()];
        byLength[lines.size()] = null;
        if (last != line) {
            last.place = line.place;
            byLength[last.place] = last;
            sift(last);
        }
    }

    private void resize(int change) {
        int before = size;
        size = before + change;
    }

    /** Moves a line to its place in the heap. */
    private void sift(Line line) {
        int place = line.place;
        for (int up = (place - 1) / 2; place > 0 && line.size() > byLength[up].size(); up = (place - 1) / 2) {
            put(byLength[up], place);
            place = up;
        }
        for (Line down = longer(2 * place + 1, 2 * place + 2);
                down != null && down.size() > line.size();
                down = longer(2 * place + 1, 2 * place + 2)) {
            int from = down.place;
            put(down, place);
            place = from;
        }
        put(line, place);
    }

    private void put(Line line, int place) {
        byLength[place] = line;
        line.place = place;
    }

    /** The longer one of the lines at two places; {@code null} if there is none. */
    private @Nullable Line longer(int place, int other) {
        if (other < lines.size()) {
            return byLength[place].size() >= byLength[other].size() ? byLength[place] : byLength[other];
        }
        return place < lines.size() ? byLength[place] : null;
    }
}
