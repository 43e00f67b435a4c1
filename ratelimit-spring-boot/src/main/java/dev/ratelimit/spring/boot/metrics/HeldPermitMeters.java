package dev.ratelimit.spring.boot.metrics;

import dev.ratelimit.Ticker;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Meters of the concurrency limits of one policy, as this instance holds their permits: {@code ratelimit.permits.held}
 * and {@code ratelimit.permits.overdue}, those that came back by max-hold because nobody had returned them. Thread-safe.
 */
final class HeldPermitMeters {

    /** How many permits may wait to be found overdue if nobody reads the meters. */
    private static final int MANY = 1024;

    private final Ticker ticker;
    private final Counter overdue;
    private final Set<Held> held = ConcurrentHashMap.newKeySet();

    /** Permits of one request; equal only to itself. */
    private final class Held implements Runnable {

        private final long permits;
        private final long sinceNanos = ticker.nanos();
        private final long maxHoldNanos;

        Held(long permits, long maxHoldNanos) {
            this.permits = permits;
            this.maxHoldNanos = maxHoldNanos;
        }

        /** They come back. */
        @Override
        public void run() {
            if (held.remove(this) && isOverdue()) {
                overdue.increment((double) permits);
            }
        }

        boolean isOverdue() {
            return ticker.nanos() - sinceNanos >= maxHoldNanos;
        }
    }

    HeldPermitMeters(String policy, MeterRegistry registry, Ticker ticker) {
        this.ticker = ticker;
        this.overdue = Counter.builder("ratelimit.permits.overdue")
                .description("Permits that were not returned before max-hold")
                .tag("policy", policy)
                .register(registry);
        Gauge.builder("ratelimit.permits.held", this, HeldPermitMeters::count)
                .description("Permits of concurrency limits that requests to this instance hold")
                .tag("policy", policy)
                .register(registry);
    }

    /** Counts permits until the returned task runs, or until they are overdue. */
    Runnable hold(long permits, long maxHoldNanos) {
        if (held.size() >= MANY) {
            dropOverdue();
        }
        Held now = new Held(permits, maxHoldNanos);
        held.add(now);
        return now;
    }

    private void dropOverdue() {
        for (Held one : held) {
            if (one.isOverdue()) {
                one.run();
            }
        }
    }

    private double count() {
        dropOverdue();
        return held.stream().mapToDouble(one -> (double) one.permits).sum();
    }
}
