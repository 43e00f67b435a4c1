package dev.ratelimit.simulator.traffic;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sorts requests by time that are nearly in order: each is moved forward past the later ones in the window. Those with
 * the same time keep their order. Not thread-safe.
 */
final class SortingWindow {

    private final LoggedRequest[] ring;
    private int head;
    private int size;

    SortingWindow(int capacity) {
        this.ring = new LoggedRequest[Integer.highestOneBit(Math.max(1, capacity) * 2 - 1)];
    }

    boolean isFull() {
        return size == ring.length;
    }

    /** Only if it is not full. */
    void add(LoggedRequest request) {
        int mask = ring.length - 1;
        int at = head + size;
        while (at > head && ring[at - 1 & mask].nanos() > request.nanos()) {
            ring[at & mask] = ring[at - 1 & mask];
            at--;
        }
        ring[at & mask] = request;
        size++;
    }

    /** The earliest; {@code null} if there is none. */
    @Nullable
    LoggedRequest poll() {
        if (size == 0) {
            return null;
        }
        LoggedRequest first = ring[head];
        head = head + 1 & ring.length - 1;
        size--;
        return first;
    }

    void forEach(Consumer<LoggedRequest> task) {
        for (int i = 0; i < size; i++) {
            task.accept(ring[head + i & ring.length - 1]);
        }
    }
}
