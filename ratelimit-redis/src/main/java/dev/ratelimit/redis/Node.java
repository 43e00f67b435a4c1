package dev.ratelimit.redis;

import dev.ratelimit.redis.Breaker.Pass;
import dev.ratelimit.redis.RedisStore.Failure;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A server, as far as it can be told apart: asked through a breaker, and waited for until a deadline. Thread-safe. */
final class Node {

    /** A batch on its way. */
    record Sent(Batch batch, Node node, Pass pass, CompletableFuture<Answer> answer) {

        /** Does this when there is an answer, or none will come; on the thread that finds out. */
        @SuppressWarnings("FutureReturnValueIgnored") // the action sees to its own failures
        void then(Runnable action) {
            answer.whenComplete((received, failure) -> action.run());
        }

        /**
         * Waits for the answer.
         *
         * @param patienceNanos how long; not at all when it is not positive
         * @throws StoreFailure when there is none
         */
        Answer await(long patienceNanos) {
            try {
                Answer received = answer.get(Math.max(0, patienceNanos), TimeUnit.NANOSECONDS);
                node.left(pass, null);
                return received;
            } catch (TimeoutException e) {
                throw node.failed(pass, new StoreFailure(Failure.TIMEOUT, "Redis did not answer in time"));
            } catch (ExecutionException e) {
                throw node.failed(pass, StoreFailure.of(e.getCause() == null ? e : e.getCause()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw node.failed(pass, new StoreFailure(Failure.INTERRUPTED, "interrupted while Redis was asked", e));
            }
        }
    }

    private final Breaker breaker;
    private final Runner runner;
    private final Link link;
    private final Consumer<@Nullable StoreFailure> changed;

    /**
     * A server that is thought to be well.
     *
     * @param changed is told when that changes: why it is left alone, or {@code null} when it answers again
     */
    Node(Breaker breaker, Runner runner, Link link, Consumer<@Nullable StoreFailure> changed) {
        this.breaker = breaker;
        this.runner = runner;
        this.link = link;
        this.changed = changed;
    }

    boolean available() {
        return !breaker.open();
    }

    /** Sends a batch, unless the server is known to fail. Each is to be awaited, if only for no time. */
    Sent send(Batch batch, Operation operation, long atMicros) {
        Pass pass = breaker.enter();
        CompletableFuture<Answer> answer = pass == Pass.NO
                ? CompletableFuture.failedFuture(new StoreFailure(RedisStore.Failure.OPEN, "Redis failed a moment ago"))
                : runner.run(batch, operation, atMicros, pass == Pass.PROBE || operation == Operation.REFUND);
        return new Sent(batch, this, pass, answer);
    }

    private StoreFailure failed(Pass pass, StoreFailure failure) {
        left(pass, failure);
        return failure;
    }

    private void left(Pass pass, @Nullable StoreFailure failure) {
        if (pass == Pass.NO) {
            return;
        }
        boolean failed = failure != null
                && (failure.ofServer() || (pass == Pass.PROBE && failure.reason() == Failure.INTERRUPTED));
        boolean turned = breaker.left(pass, failed);
        if (failed && (turned || pass == Pass.PROBE)) {
            link.replace();
        }
        if (turned) {
            changed.accept(failure);
        }
    }
}
