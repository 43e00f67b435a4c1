package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.remote.Inside;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Threads that charge in turn until closed, and their results. */
final class Load implements AutoCloseable {

    private static final long PAUSE_NANOS = 2_000_000;

    private final RateLimitStore store;
    private final List<Charge> charges;
    private final List<Thread> threads = new ArrayList<>();
    private final Map<Charge, AtomicLong> admitted = new ConcurrentHashMap<>();
    private final Map<Charge, AtomicLong> asked = new ConcurrentHashMap<>();
    private final Map<Charge, AtomicLong> alone = new ConcurrentHashMap<>();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final AtomicLong longestNanos = new AtomicLong();
    private volatile boolean ended;

    private Load(RateLimitStore store, List<Charge> charges) {
        this.store = store;
        this.charges = charges;
    }

    /** Starts this many threads. */
    static Load start(RateLimitStore store, int threads, List<Charge> charges) {
        Load load = new Load(store, charges);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(load::run, "load-" + i);
            thread.setDaemon(true);
            thread.start();
            load.threads.add(thread);
        }
        return load;
    }

    private void run() {
        for (int i = 0; !ended; i++) {
            ask(charges.get(i % charges.size()));
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private void ask(Charge charge) {
        long start = System.nanoTime();
        try {
            Decision decision = store.decide(List.of(charge));
            if (decision.admitted()) {
                count(admitted, charge);
            }
            // a cached refusal has no receipt
            if (Inside.decidedAlone(decision)) {
                count(alone, charge);
            }
        } catch (RuntimeException | Error e) {
            failures.add(e);
        }
        count(asked, charge);
        longestNanos.accumulateAndGet(System.nanoTime() - start, Math::max);
    }

    private static void count(Map<Charge, AtomicLong> counts, Charge charge) {
        counts.computeIfAbsent(charge, first -> new AtomicLong()).incrementAndGet();
    }

    private static long count(Map<Charge, AtomicLong> counts, List<Charge> of) {
        return of.stream()
                .mapToLong(
                        charge -> counts.getOrDefault(charge, new AtomicLong()).get())
                .sum();
    }

    /** How often one of these was admitted. */
    long admitted(List<Charge> of) {
        return count(admitted, of);
    }

    /** How often one of these was requested. */
    long asked(List<Charge> of) {
        return count(asked, of);
    }

    /** How often one of these was decided in memory or not at all. */
    long alone(List<Charge> of) {
        return count(alone, of);
    }

    /** The exceptions. */
    List<Throwable> failures() {
        return List.copyOf(failures);
    }

    /** The maximum duration of one call. */
    long longestMillis() {
        return longestNanos.get() / 1_000_000;
    }

    /** Ends the threads, and waits for their last calls; a call that does not return is a failure. */
    void stop() {
        ended = true;
        for (Thread thread : threads) {
            try {
                thread.join(10_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            if (thread.isAlive()) {
                AssertionError frozen = new AssertionError(thread + " is frozen");
                frozen.setStackTrace(thread.getStackTrace());
                failures.add(frozen);
            }
        }
    }

    @Override
    public void close() {
        stop();
    }
}
