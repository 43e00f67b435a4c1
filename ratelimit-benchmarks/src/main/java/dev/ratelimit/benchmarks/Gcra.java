package dev.ratelimit.benchmarks;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The floor: the least that an exact limiter can do, one {@link System#nanoTime} and one compare-and-swap. A token bucket
 * as the theoretical arrival time, with everything known beforehand and nothing to look up.
 */
final class Gcra {

    private final AtomicLong arrival = new AtomicLong(System.nanoTime());
    private final long nanosPerPermit;
    private final long tolerance;

    Gcra(long nanosPerPermit, long burst) {
        this.nanosPerPermit = nanosPerPermit;
        this.tolerance = nanosPerPermit * (burst - 1);
    }

    boolean tryAcquire() {
        while (true) {
            long seen = arrival.get();
            long now = System.nanoTime();
            long debt = Math.max(0, seen - now);
            if (debt > tolerance) {
                return false;
            }
            if (arrival.compareAndSet(seen, now + debt + nanosPerPermit)) {
                return true;
            }
        }
    }
}
