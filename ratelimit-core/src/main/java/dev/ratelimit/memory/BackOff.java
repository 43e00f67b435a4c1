package dev.ratelimit.memory;

/**
 * Exponential back-off between attempts: an immediate retry would steal the cache line from the thread that is making
 * progress.
 */
final class BackOff {

    private static final int MIN_SPINS = 8;
    private static final int SPINNING_FAILURES = 6;

    private BackOff() {}

    /** Waits after this number of consecutive failures. */
    @SuppressWarnings("ThreadPriorityCheck") // yielding only helps a holder that was preempted; nothing relies on it
    static void after(int failures) {
        if (failures >= SPINNING_FAILURES) {
            Thread.yield();
            return;
        }
        for (int spins = MIN_SPINS << failures; spins > 0; spins--) {
            Thread.onSpinWait();
        }
    }
}
