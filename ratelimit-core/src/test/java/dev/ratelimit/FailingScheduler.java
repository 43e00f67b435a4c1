package dev.ratelimit;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** Does what another scheduler and an executor do, until a test lets them fail. */
public final class FailingScheduler implements Scheduler {

    private final Scheduler scheduler;
    private final Executor executor;
    private int failingAlarms;
    private boolean executorFails;

    public FailingScheduler(Scheduler scheduler, Executor executor) {
        this.scheduler = scheduler;
        this.executor = executor;
    }

    /** Alarms cannot be set from now on. */
    public void failAlarms() {
        failAlarms(Integer.MAX_VALUE);
    }

    /** The next alarms cannot be set. */
    public void failAlarms(int count) {
        failingAlarms = count;
    }

    /** Tasks are rejected from now on. */
    public void failExecutor() {
        executorFails = true;
    }

    @Override
    public Alarm schedule(Runnable task, long delayNanos) {
        if (failingAlarms > 0) {
            failingAlarms--;
            throw new IllegalStateException("no alarms");
        }
        return scheduler.schedule(task, delayNanos);
    }

    @Override
    public Executor executor() {
        return task -> {
            if (executorFails) {
                throw new RejectedExecutionException("no threads");
            }
            executor.execute(task);
        };
    }
}
