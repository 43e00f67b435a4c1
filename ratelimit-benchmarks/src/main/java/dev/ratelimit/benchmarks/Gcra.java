package dev.ratelimit.benchmarks;

import dev.ratelimit.Rate;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The floor: the minimum that an exact limiter must do, one {@link System#nanoTime} and one compare-and-swap. A token
 * bucket as its theoretical arrival time, with all parameters precomputed. A thread that loses a race backs off before
 * it tries again, as ours does: that makes a budget shared by several threads cheaper.
 */
final class Gcra {

    /** The result of {@link #charge} if it refuses. */
    static final long REFUSED = Long.MIN_VALUE;

    private static final int MIN_SPINS = 8;
    private static final int SPINNING_FAILURES = 6;

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

    boolean tryAcquire(AtomicLong arrival) {
        for (int failures = 0; ; failures++) {
            long seen = arrival.get();
            long next = charge(seen, System.nanoTime());
            if (next == REFUSED) {
                return false;
            }
            if (arrival.compareAndSet(seen, next)) {
                return true;
            }
            backOff(failures);
        }
    }

    /** The same for one of several arrival times, at a time that was read before. */
    boolean tryAcquire(AtomicLongArray arrivals, int at, long now) {
        for (int failures = 0; ; failures++) {
            long seen = arrivals.get(at);
            long next = charge(seen, now);
            if (next == REFUSED) {
                return false;
            }
            if (arrivals.compareAndSet(at, seen, next)) {
                return true;
            }
            backOff(failures);
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // the same as ours
    private static void backOff(int failures) {
        if (failures >= SPINNING_FAILURES) {
            Thread.yield();
            return;
        }
        for (int spins = MIN_SPINS << failures; spins > 0; spins--) {
            Thread.onSpinWait();
        }
    }
}
