package dev.ratelimit;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;

/**
 * Alarms and waits: limiters and stores use a scheduler for everything that does not happen immediately. Thread-safe.
 * For tests, use {@code FakeTicker} of {@code ratelimit-test}.
 */
public interface Scheduler {

    /** A scheduled task. */
    @FunctionalInterface
    interface Alarm {

        /** Cancels the task, if it has not started, and releases it. Idempotent. */
        void cancel();
    }

    /**
     * Runs the task once, on one of the scheduler's threads, after at least {@code delayNanos}. The task must be short
     * and must not block, because other tasks wait for the same thread.
     *
     * @param task what to run
     * @param delayNanos 0 or less for as soon as possible
     * @return an alarm that cancels the task
     */
    @CanIgnoreReturnValue
    Alarm schedule(Runnable task, long delayNanos);

    /**
     * Blocks the calling thread until the future is completed, for at most {@code nanos}. A future that is completed
     * already needs no wait: the call returns immediately, even on an interrupted thread, which stays interrupted.
     *
     * @param future what to wait for; it is neither completed nor cancelled by this method
     * @param nanos 0 or less does not wait
     * @return whether the future is completed, in any way
     * @throws InterruptedException if the future is not completed and the thread is interrupted before or while waiting
     */
    @CanIgnoreReturnValue
    default boolean await(CompletableFuture<?> future, long nanos) throws InterruptedException {
        if (future.isDone()) {
            return true;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (nanos <= 0) {
            return false;
        }
        CompletableFuture<Void> over = new CompletableFuture<>();
        Alarm alarm = schedule(() -> over.complete(null), nanos);
        try {
            // unlike a dependent, it leaves nothing on a future that outlives many waits
            CompletableFuture.anyOf(future, over).get();
        } catch (ExecutionException | CancellationException e) {
            // the caller handles the future
        } finally {
            over.complete(null);
            alarm.cancel();
        }
        return future.isDone();
    }

    /**
     * Blocks the calling thread for at least {@code nanos}.
     *
     * @param nanos 0 or less returns immediately
     * @throws InterruptedException if interrupted before or while waiting
     */
    default void sleep(long nanos) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (nanos <= 0) {
            return;
        }
        CountDownLatch over = new CountDownLatch(1);
        Alarm alarm = schedule(over::countDown, nanos);
        try {
            over.await();
        } finally {
            alarm.cancel();
        }
    }

    /**
     * {@return the executor for callers' code after an alarm, such as dependents of {@link RateLimiter#acquireAsync}}
     * By default, the code runs on the thread of the alarm.
     */
    default Executor executor() {
        return Runnable::run;
    }

    /**
     * {@return the executor for code that may block: calls of stores that can only block, and dependents of asynchronous
     * calls of a store} It may reject tasks if too many wait. By default, it is {@link #executor()}.
     */
    default Executor blockingExecutor() {
        return executor();
    }

    /**
     * {@return the system's scheduler} Alarms run on a daemon thread, {@code ratelimit-timer}; the executor uses
     * another one, {@code ratelimit-wait}, and the one for code that may block uses up to ten per processor,
     * {@code ratelimit-blocking}, for which at most 10,000 tasks wait. Each starts when first needed and ends after ten
     * idle seconds. What a task throws goes to the thread's handler of uncaught exceptions. {@link #sleep} and
     * {@link #await} need none of them.
     */
    static Scheduler system() {
        return SystemScheduler.INSTANCE;
    }

    /**
     * {@return the scheduler for a ticker if none is given: the ticker, if it is a scheduler, otherwise the system's}
     *
     * @param ticker any ticker
     */
    static Scheduler of(Ticker ticker) {
        return ticker instanceof Scheduler scheduler ? scheduler : system();
    }
}
