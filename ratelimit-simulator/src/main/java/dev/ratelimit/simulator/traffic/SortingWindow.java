package dev.ratelimit.simulator.traffic;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** Sorts requests by time within a window. Those with the same time keep their order. Not thread-safe. */
final class SortingWindow {

    private record Entry(LoggedRequest request, long order) {}

    private final PriorityQueue<Entry> waiting = new PriorityQueue<>(
            Comparator.<Entry>comparingLong(entry -> entry.request.nanos()).thenComparingLong(Entry::order));
    private final int capacity;
    private long order;

    SortingWindow(int capacity) {
        this.capacity = capacity;
    }

    boolean isFull() {
        return waiting.size() >= capacity;
    }

    /** Only if it is not full. */
    void add(LoggedRequest request) {
        waiting.add(new Entry(request, order++));
    }

    /** The earliest; {@code null} if there is none. */
    @Nullable
    LoggedRequest poll() {
        Entry polled = waiting.poll();
        return polled == null ? null : polled.request;
    }
}
