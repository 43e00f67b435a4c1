package dev.ratelimit.benchmarks;

import dev.ratelimit.Rate;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The floor: the minimum that an exact limiter must do, one {@link System#nanoTime} and one compare-and-swap. A token
 * bucket as its theoretical arrival time, with all parameters precomputed.
 */
final class Gcra {

    /** The result of {@link #charge} if it refuses. */
    static final long REFUSED = Long.MIN_VALUE;

    private final long nanosPerPermit;
    private final long tolerance;

    /** For a rate whose permits divide its period. */
    Gcra(Rate rate) {
        this.nanosPerPermit = rate.periodNanos() / rate.permits();
        this.tolerance = nanosPerPermit * (rate.permits() - 1);
    }

    /** The arrival time after taking a permit, or {@link #REFUSED}. */
    long charge(long arrival, long now) {
        long debt = Math.max(0, arrival - now);
        return debt > tolerance ? REFUSED : now + debt + nanosPerPermit;
    }

    /** The arrival time after refunding a permit. */
    long refund(long arrival) {
        return arrival - nanosPerPermit;
    }

    boolean tryAcquire(AtomicLong arrival) {
        while (true) {
            long seen = arrival.get();
            long next = charge(seen, System.nanoTime());
            if (next == REFUSED) {
                return false;
            }
            if (arrival.compareAndSet(seen, next)) {
                return true;
            }
        }
    }
}
