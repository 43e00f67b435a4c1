package dev.ratelimit.test;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A clock that tests advance. Alarms run on the thread that advances it, in order, each at its own time. Thread-safe.
 *
 * <p>A clock that stands still hides code that reads it twice instead of once. With {@link #advanceOnRead}, time passes
 * between any two readings, as in production; code that refunds, waits or expires deserves a test with both.
 */
public final class FakeTicker implements Ticker, Scheduler {

    private record Due(long atNanos, long order, Runnable task) {}

    private final PriorityQueue<Due> alarms =
            new PriorityQueue<>(Comparator.comparingLong(Due::atNanos).thenComparingLong(Due::order));
    private final long firstNanos;
    private long elapsedNanos;
    private long epochNanos;
    private long order;
    private long stepNanos;

    /** Starts at 2027-01-01T00:00:00Z. */
    public FakeTicker() {
        this(Instant.parse("2027-01-01T00:00:00Z"));
    }

    /**
     * Starts at this wall time; monotonic time starts at 0.
     *
     * @param start at most 292 years from the epoch
     * @throws ArithmeticException if {@code start} is further away
     */
    public FakeTicker(Instant start) {
        this(start, 0);
    }

    /**
     * Starts at this wall time and this monotonic time.
     *
     * @param start at most 292 years from the epoch
     * @param firstNanos the first {@link #nanos}, any number; it may overflow later
     * @throws ArithmeticException if {@code start} is further away
     */
    public FakeTicker(Instant start, long firstNanos) {
        this.firstNanos = firstNanos;
        this.epochNanos = Math.addExact(Math.multiplyExact(start.getEpochSecond(), 1_000_000_000L), start.getNano());
    }

    @Override
    public synchronized long nanos() {
        long now = firstNanos + elapsedNanos;
        pass(elapsedNanos + stepNanos);
        return now;
    }

    @Override
    public synchronized long epochNanos() {
        long now = epochNanos;
        pass(elapsedNanos + stepNanos);
        return now;
    }

    @Override
    public synchronized Alarm schedule(Runnable task, long delayNanos) {
        long at = elapsedNanos + Math.min(Math.max(0, delayNanos), Long.MAX_VALUE - elapsedNanos);
        Due due = new Due(at, order++, task);
        alarms.add(due);
        return () -> cancel(due);
    }

    /**
     * Waits in real time: who completes the future, such as a server, does not go by this ticker. {@link #sleep} ends
     * when the test has advanced the time.
     */
    @Override
    public boolean await(CompletableFuture<?> future, long nanos) throws InterruptedException {
        return Scheduler.system().await(future, nanos);
    }

    private synchronized void cancel(Due due) {
        alarms.remove(due);
    }

    /**
     * Advances monotonic and wall time, and runs the alarms that are due. What an alarm throws ends this call.
     *
     * @param time zero or more; zero runs the alarms that are due now
     * @throws IllegalArgumentException if negative: only the wall clock can be set back
     */
    public void advance(Duration time) {
        advanceNanos(time.toNanos());
    }

    /**
     * Like {@link #advance}, in nanoseconds.
     *
     * @param nanos 0 or more
     * @throws IllegalArgumentException if negative
     */
    public void advanceNanos(long nanos) {
        if (nanos < 0) {
            throw new IllegalArgumentException("nanos must not be negative but was " + nanos);
        }
        long target;
        synchronized (this) {
            target = elapsedNanos + nanos;
        }
        for (Due due = nextDue(target); due != null; due = nextDue(target)) {
            due.task().run();
        }
        pass(target);
    }

    /**
     * From now on, advances by this time after each reading of either clock, so that no two readings are the same.
     * Alarms that become due in this way run when the test next advances time. With zero, the default, time stands
     * still.
     *
     * @param step zero or more
     * @return this ticker
     * @throws IllegalArgumentException if negative
     */
    public synchronized FakeTicker advanceOnRead(Duration step) {
        if (step.isNegative()) {
            throw new IllegalArgumentException("step must not be negative but was " + step);
        }
        stepNanos = step.toNanos();
        return this;
    }

    /**
     * Sets the wall clock forward or back, as an operator would; monotonic time does not change.
     *
     * @param by negative sets it back
     */
    public synchronized void setWallClock(Duration by) {
        epochNanos += by.toNanos();
    }

    /** {@return the number of alarms that have not run; each thread that {@linkplain #sleep sleeps} has one} */
    public synchronized int alarms() {
        return alarms.size();
    }

    private synchronized @Nullable Due nextDue(long target) {
        Due next = alarms.peek();
        if (next == null || next.atNanos() > target) {
            return null;
        }
        pass(next.atNanos());
        return alarms.poll();
    }

    private synchronized void pass(long target) {
        if (target - elapsedNanos <= 0) {
            return;
        }
        epochNanos += target - elapsedNanos;
        elapsedNanos = target;
    }
}
