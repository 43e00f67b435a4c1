package dev.ratelimit.simulator.replay;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.simulator.traffic.LoggedRequest;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * The time of the requests. It never goes backwards, and alarms run when it passes them, in order. Not thread-safe.
 */
public final class VirtualClock implements Ticker, Scheduler {

    private record Due(long atNanos, long order, Runnable task) {}

    private final PriorityQueue<Due> alarms =
            new PriorityQueue<>(Comparator.comparingLong(Due::atNanos).thenComparingLong(Due::order));
    private long nanos;
    private long order;

    @Override
    public long nanos() {
        return nanos;
    }

    @Override
    public long epochNanos() {
        return nanos;
    }

    @Override
    public Alarm schedule(Runnable task, long delayNanos) {
        long delay = Math.max(0, delayNanos);
        long at = nanos > Long.MAX_VALUE - delay ? Long.MAX_VALUE : nanos + delay;
        return at(at, task);
    }

    /** Runs the task at this time, or the next time that the clock is set. */
    Alarm at(long atNanos, Runnable task) {
        Due due = new Due(atNanos, order++, task);
        alarms.add(due);
        return () -> alarms.remove(due);
    }

    /** Runs the task when this request ends that has just come; at once if its duration is not known. */
    public void atEnd(LoggedRequest request, Runnable task) {
        if (request.durationNanos() > 0) {
            Alarm unused = at(nanos + request.durationNanos(), task);
        } else {
            task.run();
        }
    }

    /** Sets the clock, and runs what is due until then; earlier times count as now. */
    public void advanceTo(long target) {
        for (Due due = alarms.peek(); due != null && due.atNanos() <= target; due = alarms.peek()) {
            alarms.remove();
            nanos = Math.max(nanos, due.atNanos());
            due.task().run();
        }
        nanos = Math.max(nanos, target);
    }
}
