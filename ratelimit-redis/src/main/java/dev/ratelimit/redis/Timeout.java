package dev.ratelimit.redis;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Scheduler.Alarm;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

/** Timeouts of futures. */
final class Timeout {

    private Timeout() {}

    /**
     * Waits for the future, for at most this time.
     *
     * @return whether the future is completed, in any way
     * @throws InterruptedException if interrupted
     * @throws StoreFailure if the scheduler cannot wait, such as one that was shut down before the store
     */
    static boolean await(CompletableFuture<?> future, long nanos, Scheduler scheduler) throws InterruptedException {
        try {
            return scheduler.await(future, nanos);
        } catch (RuntimeException | Error e) {
            throw new StoreFailure(RedisStoreFailure.ERROR, "the scheduler cannot wait for Redis: " + e, e);
        }
    }

    /**
     * Fails the future with a {@link TimeoutException} unless it is completed in time; immediately if no alarm can be
     * set.
     */
    @SuppressWarnings("FutureReturnValueIgnored") // cancelling an alarm does not fail
    static void set(CompletableFuture<?> future, long nanos, Scheduler scheduler) {
        try {
            Alarm alarm = scheduler.schedule(() -> future.completeExceptionally(new TimeoutException()), nanos);
            future.whenComplete((result, failure) -> alarm.cancel());
        } catch (RuntimeException | Error e) {
            // a thread may fail to start
            future.completeExceptionally(e);
        }
    }
}
