package dev.ratelimit.simulator.traffic;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Sorts requests by time within a window. Those with the same time keep their order. Not thread-safe. */
final class SortingWindow {

    private record Entry(LoggedRequest request, long order) {}

    private final PriorityQueue<Entry> entries = new PriorityQueue<>(
            Comparator.<Entry>comparingLong(entry -> entry.request.nanos()).thenComparingLong(Entry::order));
    private final int capacity;
    private long order;

    SortingWindow(int capacity) {
        this.capacity = capacity;
    }

    boolean isFull() {
        return entries.size() >= capacity;
    }

    /** Only if it is not full. */
    void add(LoggedRequest request) {
        entries.add(new Entry(request, order++));
    }

    /** The earliest; {@code null} if there is none. */
    @Nullable
    LoggedRequest poll() {
        Entry first = entries.poll();
        return first == null ? null : first.request;
    }

    void forEach(Consumer<LoggedRequest> task) {
        entries.forEach(entry -> task.accept(entry.request));
    }
}
