package dev.ratelimit.remote;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Scheduler.Alarm;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Timeouts of futures. */
public final class Timeout {

    private Timeout() {}

    /**
     * Waits for the future, for at most this time. Errors that do not come from the JVM pass: a tool that watches over
     * event loops throws one where a thread must not wait, and nobody would see it if policies decided instead.
     *
     * @param future what to wait for
     * @param nanos for how long; 0 or less does not wait
     * @param scheduler in which to wait
     * @return whether the future is completed, in any way
     * @throws InterruptedException if interrupted
     * @throws StoreFailure if the scheduler cannot wait, such as one that was shut down before the store
     */
    public static boolean await(CompletableFuture<?> future, long nanos, Scheduler scheduler)
            throws InterruptedException {
        try {
            return scheduler.await(future, nanos);
        } catch (RuntimeException | VirtualMachineError e) {
            throw cannotWait(e);
        }
    }

    /**
     * Waits for the future without blocking a thread.
     *
     * @return completed when the future is, in any way, or after this time, on the thread of either; exceptionally, with
     *     a {@link StoreFailure}, if no alarm can be set, or with an error that does not come from the JVM
     */
    @SuppressWarnings("FutureReturnValueIgnored") // cancelling an alarm does not fail
    static CompletableFuture<@Nullable Void> await(Scheduler scheduler, CompletableFuture<?> future, long nanos) {
        CompletableFuture<@Nullable Void> over = new CompletableFuture<>();
        if (future.isDone()) {
            over.complete(null);
            return over;
        }
        try {
            Alarm alarm = scheduler.schedule(() -> over.complete(null), nanos);
            future.whenComplete((result, failure) -> {
                try {
                    alarm.cancel();
                } finally {
                    over.complete(null);
                }
            });
        } catch (RuntimeException | VirtualMachineError e) {
            over.completeExceptionally(cannotWait(e));
        } catch (Error e) {
            over.completeExceptionally(e);
        }
        return over;
    }

    private static StoreFailure cannotWait(Throwable thrown) {
        return new StoreFailure(RemoteStoreFailure.ERROR, "the scheduler cannot wait for an answer: " + thrown, thrown);
    }

    /**
     * Fails the future with a {@link TimeoutException} unless it is completed in time; immediately if no alarm can be
     * set.
     *
     * @param future what to fail
     * @param nanos after which time
     * @param scheduler of the alarm
     */
    @SuppressWarnings("FutureReturnValueIgnored") // cancelling an alarm does not fail
    public static void set(CompletableFuture<?> future, long nanos, Scheduler scheduler) {
        try {
            Alarm alarm = scheduler.schedule(() -> future.completeExceptionally(new TimeoutException()), nanos);
            future.whenComplete((result, failure) -> alarm.cancel());
        } catch (RuntimeException | Error e) {
            // a thread may fail to start
            future.completeExceptionally(e);
        }
    }
}
