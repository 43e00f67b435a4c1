package dev.ratelimit.remote;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ratelimit.Ticker;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;

/**
 * A circuit breaker: opens when too many of the last 20 requests have failed, and closes when probes succeed: one, or three in
 * a row if it opens again soon after it has closed. No request is a probe. Thread-safe; a successful request costs two
 * volatile reads.
 */
final class Breaker {

    /** How many requests it remembers. */
    static final int WINDOW = 20;

    private static final int MASK = (1 << WINDOW) - 1;
    private static final double JITTER = 0.1;

    /** If it opens again within this many intervals, the server is unstable. */
    private static final int CALM = 10;

    /** How many probes in a row must succeed for a server that is unstable. */
    private static final int CONFIRMATIONS = 3;

    /** After one of these, the next follows in this part of the interval. */
    private static final int HASTE = 4;

    private final Ticker ticker;
    private final int failures;
    private final long intervalNanos;
    private final RandomGenerator random;
    private final AtomicInteger outcomes = new AtomicInteger();

    /** Written under the monitor. */
    private volatile boolean open;

    @GuardedBy("this")
    private boolean hasClosed;

    @GuardedBy("this")
    private long closedAt;

    /** How many probes must succeed in a row, and how many have. */
    @GuardedBy("this")
    private int required;

    @GuardedBy("this")
    private int succeeded;

    /**
     * Creates a closed breaker.
     *
     * @param failures how many of the last requests must fail to open it
     * @param intervalNanos the time between two probes, give or take a tenth
     * @param random spreads the probes of several instances
     */
    Breaker(Ticker ticker, int failures, long intervalNanos, RandomGenerator random) {
        this.ticker = ticker;
        this.failures = failures;
        this.intervalNanos = intervalNanos;
        this.random = random;
    }

    boolean open() {
        return open;
    }

    /**
     * Records the outcome of a request.
     *
     * @return whether this opened the breaker
     */
    boolean record(boolean failed) {
        if (outcomes.get() == 0 && !failed) {
            return false;
        }
        int after = outcomes.updateAndGet(bits -> (bits << 1 | (failed ? 1 : 0)) & MASK);
        return failed && Integer.bitCount(after) >= failures && trip();
    }

    /**
     * Opens the breaker.
     *
     * @return whether it was closed
     */
    synchronized boolean trip() {
        if (open) {
            return false;
        }
        boolean unstable = hasClosed && ticker.nanos() - closedAt < CALM * intervalNanos;
        required = unstable ? CONFIRMATIONS : 1;
        succeeded = 0;
        open = true;
        return true;
    }

    /**
     * Records the outcome of a probe.
     *
     * @return whether this closed the breaker
     */
    synchronized boolean probed(boolean failed) {
        if (!open) {
            return false;
        }
        succeeded = failed ? 0 : succeeded + 1;
        if (succeeded < required) {
            return false;
        }
        outcomes.set(0);
        hasClosed = true;
        closedAt = ticker.nanos();
        open = false;
        return true;
    }

    /** The time until the next probe. Jitter keeps instances from probing at the same time. */
    synchronized long untilProbeNanos() {
        double factor = 1 - JITTER + 2 * JITTER * random.nextDouble();
        return Math.max(1, (long) (intervalNanos * factor) / (succeeded > 0 ? HASTE : 1));
    }
}
