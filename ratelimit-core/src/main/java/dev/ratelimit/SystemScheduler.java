package dev.ratelimit;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

enum SystemScheduler implements Scheduler {
    INSTANCE;

    private final ScheduledThreadPoolExecutor timer = DaemonThreads.timer("ratelimit-timer");
    private final Executor executor = DaemonThreads.queue("ratelimit-wait");

    @Override
    public Alarm schedule(Runnable task, long delayNanos) {
        Future<?> ringing = timer.schedule(() -> ring(task), delayNanos, TimeUnit.NANOSECONDS);
        return () -> ringing.cancel(false);
    }

    @Override
    public Executor executor() {
        return executor;
    }

    @Override
    public Executor blockingExecutor() {
        return BlockingCalls.POOL;
    }

    private static void ring(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            // otherwise the timer would swallow it
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }

    @Override
    public boolean await(CompletableFuture<?> future, long nanos) throws InterruptedException {
        if (future.isDone()) {
            return true;
        }
        try {
            future.get(Math.max(0, nanos), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException | CancellationException e) {
            // the caller handles the future
        }
        return future.isDone();
    }

    /** Parks: {@link Thread#sleep(long, int)} rounds up to a millisecond on JDK 17. */
    @Override
    public void sleep(long nanos) throws InterruptedException {
        long start = SystemTicker.INSTANCE.nanos();
        for (long left = nanos; ; left = nanos - (SystemTicker.INSTANCE.nanos() - start)) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (left <= 0) {
                return;
            }
            LockSupport.parkNanos(this, left);
        }
    }
}
