package dev.ratelimit.memory;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A clock that a test sets, and that runs a task at its next reading, to force a race into an order. */
final class SetTicker implements Ticker, Scheduler {

    private final AtomicLong nanos = new AtomicLong();
    private final AtomicReference<@Nullable Runnable> whenRead = new AtomicReference<>();
    private final AtomicReference<@Nullable Runnable> afterRead = new AtomicReference<>();
    private final Queue<Runnable> alarms = new ArrayDeque<>();

    void advance(long by) {
        nanos.addAndGet(by);
    }

    /** Runs the task once, on the thread that reads the time next, after the reading. */
    void afterReadNext(Runnable task) {
        afterRead.set(task);
    }

    /** Runs the task once, on the thread that reads the time next, before the reading. */
    void whenReadNext(Runnable task) {
        whenRead.set(task);
    }

    @Override
    public long nanos() {
        Runnable task = whenRead.getAndSet(null);
        if (task != null) {
            task.run();
        }
        long now = nanos.get();
        Runnable later = afterRead.getAndSet(null);
        if (later != null) {
            later.run();
        }
        return now;
    }

    @Override
    public long epochNanos() {
        return nanos();
    }

    @Override
    public synchronized Alarm schedule(Runnable task, long delayNanos) {
        alarms.add(task);
        return () -> cancel(task);
    }

    private synchronized void cancel(Runnable task) {
        alarms.remove(task);
    }

    synchronized int alarms() {
        return alarms.size();
    }

    /** Runs the alarm that was set first. */
    void ring() {
        Runnable task;
        synchronized (this) {
            task = alarms.remove();
        }
        task.run();
    }
}
