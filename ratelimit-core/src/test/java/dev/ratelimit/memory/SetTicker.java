package dev.ratelimit.memory;

import dev.ratelimit.Ticker;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Time that a test sets; and that does something when it is read next, which puts a race into an order. */
final class SetTicker implements Ticker {

    private final AtomicLong nanos = new AtomicLong();
    private final AtomicReference<@Nullable Runnable> whenRead = new AtomicReference<>();
    private final Queue<Runnable> alarms = new ArrayDeque<>();

    void advance(long by) {
        nanos.addAndGet(by);
    }

    /** Runs the task once, on the thread that reads the time next, before it gets it. */
    void whenReadNext(Runnable task) {
        whenRead.set(task);
    }

    @Override
    public long nanos() {
        Runnable task = whenRead.getAndSet(null);
        if (task != null) {
            task.run();
        }
        return nanos.get();
    }

    @Override
    public long epochNanos() {
        return nanos();
    }

    @Override
    public synchronized void schedule(Runnable task, long delayNanos) {
        alarms.add(task);
    }

    synchronized int alarms() {
        return alarms.size();
    }

    /** Rings the alarm that was set first. */
    void ring() {
        Runnable task;
        synchronized (this) {
            task = alarms.remove();
        }
        task.run();
    }
}
