package dev.ratelimit.redis;

import dev.ratelimit.redis.Breaker.Pass;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A server, as far as it can be told apart: asked through a breaker, and waited for until a deadline. Thread-safe. */
final class Node {

    /** A batch on its way. */
    record Sent(Batch batch, Node node, Pass pass, CompletableFuture<Answer> answer) {

        /**
         * Waits for the answer.
         *
         * @param patienceNanos how long; not at all when it is not positive
         * @throws StoreFailure when there is none
         */
        Answer await(long patienceNanos) {
            boolean failed = true;
            try {
                Answer received = answer.get(Math.max(0, patienceNanos), TimeUnit.NANOSECONDS);
                failed = false;
                return received;
            } catch (TimeoutException e) {
                throw new StoreFailure(RedisStore.Failure.TIMEOUT, "Redis did not answer in time");
            } catch (ExecutionException e) {
                StoreFailure failure = StoreFailure.of(e.getCause() == null ? e : e.getCause());
                failed = failure.ofServer();
                throw failure;
            } catch (InterruptedException e) {
                failed = false;
                Thread.currentThread().interrupt();
                throw new StoreFailure(RedisStore.Failure.INTERRUPTED, "interrupted while Redis was asked", e);
            } finally {
                node.left(pass, failed);
            }
        }
    }

    private final Breaker breaker;
    private final Runner runner;
    private final Link link;
    private final Runnable changed;

    /**
     * A server that is thought to be well.
     *
     * @param changed is told when that changes
     */
    Node(Breaker breaker, Runner runner, Link link, Runnable changed) {
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
                : runner.run(batch, operation, atMicros, pass == Pass.PROBE);
        return new Sent(batch, this, pass, answer);
    }

    private void left(Pass pass, boolean failed) {
        if (pass == Pass.NO) {
            return;
        }
        boolean turned = breaker.left(pass, failed);
        if (failed && (turned || pass == Pass.PROBE)) {
            link.replace();
        }
        if (turned) {
            changed.run();
        }
    }
}
