package dev.ratelimit.remote;

import dev.ratelimit.Scheduler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Hands outcomes to callers who have not waited for them, on another thread than that of a connection or of the alarms:
 * what follows may block or throw, and must stop nobody else. Thread-safe.
 */
final class Delivery {

    private final Executor executor;
    private final Scheduler scheduler;

    /** Creates a delivery on this executor; if it rejects something, on the scheduler's. */
    Delivery(Executor executor, Scheduler scheduler) {
        this.executor = executor;
        this.scheduler = scheduler;
    }

    /**
     * The outcome, whose dependents run on the executor, or on the calling thread if it is known already.
     *
     * @param unwanted receives the result if the caller has completed or cancelled the future before
     */
    @SuppressWarnings("FutureReturnValueIgnored") // nothing follows it
    <T extends @Nullable Object> CompletableFuture<T> of(CompletableFuture<T> outcome, Consumer<T> unwanted) {
        CompletableFuture<T> handed = new CompletableFuture<>();
        if (outcome.isDone()) {
            outcome.whenComplete((result, failure) -> complete(handed, result, failure, unwanted));
        } else {
            outcome.whenComplete(
                    (result, failure) -> handOver(once(() -> complete(handed, result, failure, unwanted))));
        }
        return handed;
    }

    private static <T extends @Nullable Object> void complete(
            CompletableFuture<T> handed, T result, @Nullable Throwable failure, Consumer<T> unwanted) {
        if (failure != null) {
            handed.completeExceptionally(StoreFailure.cause(failure));
        } else if (!handed.complete(result)) {
            unwanted.accept(result);
        }
    }

    /** An executor may run a task and throw nevertheless. */
    private static Runnable once(Runnable task) {
        AtomicBoolean begun = new AtomicBoolean();
        return () -> {
            if (begun.compareAndSet(false, true)) {
                task.run();
            }
        };
    }

    private void handOver(Runnable task) {
        try {
            executor.execute(task);
        } catch (Throwable rejected) {
            try {
                scheduler.executor().execute(task);
            } catch (Throwable e) {
                // late or on the wrong thread is better than never
                task.run();
            }
        }
    }
}
