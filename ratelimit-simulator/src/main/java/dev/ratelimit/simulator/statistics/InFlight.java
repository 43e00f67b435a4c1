package dev.ratelimit.simulator.statistics;

import java.util.PriorityQueue;

/** How many requests are served at the same time. Not thread-safe. */
final class InFlight {

    private final PriorityQueue<Long> ends = new PriorityQueue<>();
    private int max;

    /** A request that begins, and how long it takes; it is ignored if that is not known. */
    void add(long nanos, long durationNanos) {
        if (durationNanos < 0) {
            return;
        }
        for (Long end = ends.peek(); end != null && end <= nanos; end = ends.peek()) {
            ends.remove();
        }
        ends.add(nanos + durationNanos);
        max = Math.max(max, ends.size());
    }

    int max() {
        return max;
    }
}
