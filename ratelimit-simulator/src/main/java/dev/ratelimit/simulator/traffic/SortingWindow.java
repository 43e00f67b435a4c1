package dev.ratelimit.simulator.traffic;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sorts requests by time within a window. Those with the same time keep their order. Most requests of a log come in order,
 * so that only the others take part in sorting. Not thread-safe.
 */
final class SortingWindow {

    private record Entry(LoggedRequest request, long order) {}

    private static final Comparator<Entry> BY_TIME =
            Comparator.<Entry>comparingLong(entry -> entry.request.nanos()).thenComparingLong(Entry::order);

    /** None of these is earlier than the one before it. */
    private final ArrayDeque<Entry> inOrder = new ArrayDeque<>();

    private final PriorityQueue<Entry> late = new PriorityQueue<>(BY_TIME);
    private final int capacity;
    private long order;

    SortingWindow(int capacity) {
        this.capacity = capacity;
    }

    boolean isFull() {
        return inOrder.size() + late.size() >= capacity;
    }

    /** Only if it is not full. */
    void add(LoggedRequest request) {
        Entry added = new Entry(request, order++);
        Entry last = inOrder.peekLast();
        if (last == null || last.request.nanos() <= request.nanos()) {
            inOrder.add(added);
        } else {
            late.add(added);
        }
    }

    /** The earliest; {@code null} if there is none. */
    @Nullable
    LoggedRequest poll() {
        Entry first = inOrder.peek();
        Entry other = late.peek();
        boolean isLate = other != null && (first == null || BY_TIME.compare(other, first) < 0);
        Entry polled = isLate ? late.poll() : inOrder.poll();
        return polled == null ? null : polled.request;
    }

    void forEach(Consumer<LoggedRequest> task) {
        inOrder.forEach(entry -> task.accept(entry.request));
        late.forEach(entry -> task.accept(entry.request));
    }
}
