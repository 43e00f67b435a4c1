package dev.ratelimit.redis;

import dev.ratelimit.Ticker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;

/**
 * A circuit breaker: opens when too many of the last 20 requests have failed, and then admits a single probe from time to
 * time. A successful probe closes the breaker; each failed one doubles the time until the next, but a new connection to the
 * server is probed at once. If the server fails again soon after closing, the doubling continues where it stopped.
 * Thread-safe; a successful request costs two volatile reads.
 */
final class Breaker {

    /** Whether a request may go to the server, and in which role. */
    enum Permission {
        YES,
        /** The request that tests whether the server answers again. */
        PROBE,
        /** A probe before its time, on a new connection. */
        EARLY_PROBE,
        NO;

        boolean probes() {
            return this == PROBE || this == EARLY_PROBE;
        }
    }

    /** How many requests it remembers. */
    static final int WINDOW = 20;

    private static final int MASK = (1 << WINDOW) - 1;
    private static final double JITTER = 0.1;

    /** The maximum time between probes, unless a longer one is configured. */
    static final Duration MAX_OPEN = Duration.ofSeconds(30);

    /** Once closed for this many first intervals, the breaker starts with the first interval again. */
    private static final int CALM = 10;

    private final Ticker ticker;
    private final int failures;
    private final long openNanos;
    private final RandomGenerator random;
    private final AtomicInteger outcomes = new AtomicInteger();
    private final AtomicBoolean open = new AtomicBoolean();
    private final AtomicBoolean probing = new AtomicBoolean();
    private volatile long probeAt;
    private volatile long interval;
    private volatile long closedAt;

    /** Whether the next probe is early, because of a new connection. */
    private volatile boolean early;

    /** Whether a new connection makes the next probe early: one for each probe that was not and failed. */
    private boolean mayHurry;

    Breaker(Ticker ticker, int failures, long openNanos, RandomGenerator random) {
        this.ticker = ticker;
        this.failures = failures;
        this.openNanos = openNanos;
        this.random = random;
    }

    boolean open() {
        return open.get();
    }

    /** Requests permission. Unless the result is {@code NO}, the caller must {@link #record} the outcome. */
    Permission enter() {
        if (!open.get()) {
            return Permission.YES;
        }
        if (!due() || !probing.compareAndSet(false, true)) {
            return Permission.NO;
        }
        if (!open.get() || !due()) {
            // another probe has ended in the meantime
            probing.set(false);
            return open.get() ? Permission.NO : Permission.YES;
        }
        return early ? Permission.EARLY_PROBE : Permission.PROBE;
    }

    private boolean due() {
        return early || ticker.nanos() - probeAt >= 0;
    }

    /** Lets the next request probe the server if the last probe failed: on a new connection the server may answer. */
    synchronized void connected() {
        early |= mayHurry;
        mayHurry = false;
    }

    /**
     * Records the outcome of a request that passed.
     *
     * @return whether this opened or closed the breaker
     */
    boolean record(Permission permission, boolean failed) {
        if (permission.probes()) {
            return recordProbe(permission, failed);
        }
        int before = outcomes.get();
        if (before == 0 && !failed) {
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
        if (open.get()) {
            return false;
        }
        if (ticker.nanos() - closedAt >= CALM * openNanos) {
            interval = 0;
        }
        delayProbe();
        open.set(true);
        return true;
    }

    private synchronized boolean recordProbe(Permission permission, boolean failed) {
        early = false;
        if (!failed) {
            mayHurry = false;
            outcomes.set(0);
            closedAt = ticker.nanos();
            open.set(false);
        } else if (permission == Permission.PROBE) {
            mayHurry = true;
            delayProbe();
        }
        probing.set(false);
        return !failed;
    }

    /** Uses jitter, so that instances do not all probe at the same time. */
    private void delayProbe() {
        long maxInterval = Math.max(openNanos, MAX_OPEN.toNanos());
        interval = interval == 0 ? openNanos : Math.min(2 * interval, maxInterval);
        double factor = 1 - JITTER + 2 * JITTER * random.nextDouble();
        probeAt = ticker.nanos() + (long) (interval * factor);
    }
}
