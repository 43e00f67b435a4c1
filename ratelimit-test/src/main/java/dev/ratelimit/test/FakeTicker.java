package dev.ratelimit.test;

import dev.ratelimit.Ticker;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Time that passes when a test says so. Alarms ring on the thread that advances it, in order, each at its own time.
 * Thread-safe.
 */
public final class FakeTicker implements Ticker {

    private record Alarm(long atNanos, long order, Runnable task) {}

    private final PriorityQueue<Alarm> alarms =
            new PriorityQueue<>(Comparator.comparingLong(Alarm::atNanos).thenComparingLong(Alarm::order));
    private final long firstNanos;
    private long elapsedNanos;
    private long epochNanos;
    private long order;

    /** Starts at 2027-01-01T00:00:00Z. */
    public FakeTicker() {
        this(Instant.parse("2027-01-01T00:00:00Z"));
    }

    /** Starts at this wall time. */
    public FakeTicker(Instant start) {
        this(start, 0);
    }

    /** Starts at this wall time, and at this monotonic time, which may be anything: it may overflow later. */
    public FakeTicker(Instant start, long firstNanos) {
        this.firstNanos = firstNanos;
        this.epochNanos = Math.addExact(Math.multiplyExact(start.getEpochSecond(), 1_000_000_000L), start.getNano());
    }

    @Override
    public synchronized long nanos() {
        return firstNanos + elapsedNanos;
    }

    @Override
    public synchronized long epochNanos() {
        return epochNanos;
    }

    @Override
    public synchronized void schedule(Runnable task, long delayNanos) {
        long at = elapsedNanos + Math.min(Math.max(0, delayNanos), Long.MAX_VALUE - elapsedNanos);
        alarms.add(new Alarm(at, order++, task));
    }

    /**
     * Lets time pass, monotonic and wall, and rings what is due on the way.
     *
     * @throws IllegalArgumentException when negative: only the wall clock can be set back
     */
    public void advance(Duration time) {
        advanceNanos(time.toNanos());
    }

    /** {@link #advance}, in nanoseconds. */
    public void advanceNanos(long nanos) {
        if (nanos < 0) {
            throw new IllegalArgumentException("nanos must not be negative but was " + nanos);
        }
        long target;
        synchronized (this) {
            target = elapsedNanos + nanos;
        }
        for (Alarm due = nextDue(target); due != null; due = nextDue(target)) {
            due.task().run();
        }
        pass(target);
    }

    /** Sets the wall clock forward or back, as an operator would; monotonic time stays. */
    public synchronized void setWallClock(Duration by) {
        epochNanos += by.toNanos();
    }

    /** How many alarms are set. */
    public synchronized int alarms() {
        return alarms.size();
    }

    private synchronized @Nullable Alarm nextDue(long target) {
        Alarm next = alarms.peek();
        if (next == null || next.atNanos() > target) {
            return null;
        }
        pass(Math.max(elapsedNanos, next.atNanos()));
        return alarms.poll();
    }

    private synchronized void pass(long target) {
        epochNanos += target - elapsedNanos;
        elapsedNanos = target;
    }
}
