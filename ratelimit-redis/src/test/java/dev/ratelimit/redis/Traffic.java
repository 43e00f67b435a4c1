package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * About 200 requests per second from four threads, and their outcomes. Two other threads measure how late this machine
 * returns from a wait of the length of a deadline: no decision can be more punctual than that.
 */
final class Traffic implements AutoCloseable {

    static final int THREADS = 4;

    /** A decision that takes longer waits for something other than its deadline. */
    static final Duration HANGS = Duration.ofSeconds(2);

    private static final long PAUSE_NANOS = 20_000_000;

    private final RateLimitStore store;
    private final Supplier<Charge> charge;
    private final AtomicInteger byRedis = new AtomicInteger();
    private final AtomicInteger here = new AtomicInteger();
    private final AtomicInteger denied = new AtomicInteger();
    private final Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();
    private final LongAccumulator longest = new LongAccumulator(Math::max, 0);
    private final LongAccumulator latest = new LongAccumulator(Math::max, 0);
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean over;

    /** Starts the threads. */
    Traffic(RateLimitStore store, Supplier<Charge> charge) {
        this.store = store;
        this.charge = charge;
        for (int i = 0; i < THREADS; i++) {
            start(this::request);
        }
        start(this::measure);
        start(this::measure);
    }

    private void start(Runnable step) {
        Thread thread = new Thread(() -> {
            while (!over) {
                step.run();
            }
        });
        thread.start();
        threads.add(thread);
    }

    private void request() {
        long start = System.nanoTime();
        try {
            Decision decision = store.decide(List.of(charge.get()));
            (Scene.byRedis(decision) ? byRedis : here).incrementAndGet();
        } catch (StoreUnavailableException e) {
            denied.incrementAndGet();
        } catch (RuntimeException | Error e) {
            thrown.add(e);
        }
        longest.accumulate(System.nanoTime() - start);
        LockSupport.parkNanos(PAUSE_NANOS);
    }

    private void measure() {
        long start = System.nanoTime();
        try {
            new CompletableFuture<Void>().get(Scene.DEADLINE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            latest.accumulate(System.nanoTime() - start - Scene.DEADLINE.toNanos());
        } catch (InterruptedException | ExecutionException e) {
            thrown.add(e);
        }
    }

    /** Decisions by Redis so far. */
    int byRedis() {
        return byRedis.get();
    }

    /** Decisions by memory so far. */
    int here() {
        return here.get();
    }

    /** Policies that failed closed so far. */
    int denied() {
        return denied.get();
    }

    int all() {
        return byRedis() + here() + denied();
    }

    /** Other exceptions. */
    List<Throwable> thrown() {
        return List.copyOf(thrown);
    }

    /**
     * The duration of the slowest decision. On an idle machine it is below the deadline plus 20 ms, and
     * {@link #toString} shows whether it was; because other processes may stall it, tests compare it with
     * {@link #HANGS}.
     */
    Duration longest() {
        return Duration.ofNanos(longest.get());
    }

    /** Waits until memory has made this many more decisions. */
    void awaitHere(int more) {
        int target = here() + more;
        Scene.awaitUntil(() -> here() >= target);
    }

    /** Waits until Redis has made this many more decisions. */
    void awaitRedis(int more) {
        int target = byRedis() + more;
        Scene.awaitUntil(() -> byRedis() >= target);
    }

    /** Waits until the time has passed, while requests go on. */
    void goOn(Duration time) {
        long start = System.nanoTime();
        Scene.awaitUntil(() -> System.nanoTime() - start > time.toNanos());
    }

    /** Stops all threads and waits for them. */
    void end() {
        over = true;
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public String toString() {
        return byRedis + " decisions by Redis, " + here + " by memory, longest "
                + longest().toMillis() + " ms; the machine was late by up to " + latest.get() / 1_000_000 + " ms";
    }

    @Override
    public void close() {
        end();
    }
}
