package dev.ratelimit;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Calls of stores that can only block, on threads where they may: a few, shared by all stores. */
final class BlockingCalls {

    /** As many as Reactor's threads for blocking code. */
    private static final int THREADS = 10 * Runtime.getRuntime().availableProcessors();

    /** A store that hangs must not fill the memory with calls that wait for it. */
    private static final int MAX_WAITING = 10_000;

    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    /** That of the system's scheduler. */
    static final Executor POOL = DaemonThreads.pool("ratelimit-blocking", THREADS, MAX_WAITING);

    private BlockingCalls() {}

    /**
     * Calls a store on another thread. Never throws.
     *
     * @param undo receives what was returned after the stage had been completed by somebody else
     */
    static <T extends @Nullable Object> CompletableFuture<T> run(
            List<Charge> charges, Function<List<Charge>, T> call, Consumer<T> undo) {
        CompletableFuture<T> result = new CompletableFuture<>();
        try {
            List<Charge> fixed = List.copyOf(charges);
            Scheduler.system().blockingExecutor().execute(() -> call(result, fixed, call, undo));
        } catch (RejectedExecutionException e) {
            result.completeExceptionally(full(charges));
        } catch (Throwable e) {
            // a list without elements that are null, or a thread that cannot be started
            result.completeExceptionally(e);
        }
        return result;
    }

    private static <T extends @Nullable Object> void call(
            CompletableFuture<T> result, List<Charge> charges, Function<List<Charge>, T> call, Consumer<T> undo) {
        if (result.isDone()) {
            return;
        }
        T answer;
        try {
            answer = call.apply(charges);
        } catch (Throwable e) {
            // checked exceptions, too: code in Kotlin throws them anywhere
            result.completeExceptionally(e);
            return;
        }
        if (!result.complete(answer)) {
            undo.accept(answer);
        }
    }

    private static StoreUnavailableException full(List<Charge> charges) {
        return new StoreUnavailableException(
                charges.isEmpty() ? "none" : charges.get(0).policy().name(),
                RETRY_AFTER,
                "all " + THREADS + " threads for stores that block are busy, and " + MAX_WAITING
                        + " calls wait for them; a store should limit the time of its calls, or override decideAsync");
    }
}
