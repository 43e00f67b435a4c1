package dev.ratelimit.redis;

import dev.ratelimit.Ticker;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Keeps requests from a server that fails: opens when so many of the last 20 have failed, and then lets one through now
 * and then to see whether it answers again. Thread-safe, without locks; costs a request that goes well one volatile read.
 */
final class Breaker {

    /** Whether a request may go to the server, and as what. */
    enum Pass {
        YES,
        /** The one that tries whether the server answers again. */
        PROBE,
        NO
    }

    /** How many requests it remembers. */
    static final int WINDOW = 20;

    private static final int MASK = (1 << WINDOW) - 1;
    private static final double JITTER = 0.1;

    private final Ticker ticker;
    private final int failures;
    private final long openNanos;
    private final AtomicInteger outcomes = new AtomicInteger();
    private final AtomicBoolean open = new AtomicBoolean();
    private final AtomicBoolean probing = new AtomicBoolean();
    private volatile long probeAt;

    Breaker(Ticker ticker, int failures, long openNanos) {
        this.ticker = ticker;
        this.failures = failures;
        this.openNanos = openNanos;
    }

    boolean open() {
        return open.get();
    }

    /** Asks to pass. Who gets another answer than {@code NO} tells how it went, whatever happens. */
    Pass enter() {
        if (!open.get()) {
            return Pass.YES;
        }
        if (ticker.nanos() - probeAt < 0 || !probing.compareAndSet(false, true)) {
            return Pass.NO;
        }
        if (!open.get() || ticker.nanos() - probeAt < 0) {
            // another probe has ended in between
            probing.set(false);
            return open.get() ? Pass.NO : Pass.YES;
        }
        return Pass.PROBE;
    }

    /**
     * How it went with a request that passed.
     *
     * @return whether this opened or closed the breaker
     */
    boolean left(Pass pass, boolean failed) {
        if (pass == Pass.PROBE) {
            return leftProbe(failed);
        }
        int before = outcomes.get();
        if (before == 0 && !failed) {
            return false;
        }
        int after = outcomes.updateAndGet(bits -> (bits << 1 | (failed ? 1 : 0)) & MASK);
        if (failed && Integer.bitCount(after) >= failures && !open.get()) {
            probeAt = nextProbe();
            return open.compareAndSet(false, true);
        }
        return false;
    }

    private boolean leftProbe(boolean failed) {
        if (failed) {
            probeAt = nextProbe();
        } else {
            outcomes.set(0);
            open.set(false);
        }
        probing.set(false);
        return !failed;
    }

    /** Apart from those of other instances, so that they do not come all at once. */
    private long nextProbe() {
        double factor = 1 - JITTER + 2 * JITTER * ThreadLocalRandom.current().nextDouble();
        return ticker.nanos() + (long) (openNanos * factor);
    }
}
