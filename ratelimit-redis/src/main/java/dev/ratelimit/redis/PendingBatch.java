package dev.ratelimit.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.redis.Node.Entry;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.RemoteStoreListener;
import dev.ratelimit.remote.StoreFailure;
import dev.ratelimit.remote.Timeout;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A batch sent to a server, whose outcome is judged once. A server that redirects the batch is healthy; from then on
 * the next one is judged. Thread-safe.
 */
final class PendingBatch {

    /**
     * How a caller has waited.
     *
     * @param failure why it could not wait, if so
     */
    record Waited(long nanos, long patienceNanos, @Nullable StoreFailure failure) {

        /** Throws an error that says that there must be no outcome; see {@link Timeout}. */
        static Waited until(long nanos, long patienceNanos, @Nullable Throwable failure) {
            if (failure instanceof Error error) {
                throw error;
            }
            return new Waited(nanos, patienceNanos, failure == null ? null : LettuceFailure.of(failure));
        }
    }

    /** How far it has come to the server that it goes to. */
    private enum Progress {
        CONNECTING,
        /** It waits to be written. */
        QUEUED,
        WRITTEN
    }

    private final Batch batch;
    private final boolean urgent;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final CompletableFuture<Reply> reply = new CompletableFuture<>();

    /** Completed when the outcome for the server is known. */
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    @GuardedBy("this")
    private @Nullable Entry at;

    /** Whether its caller waits no longer. */
    private volatile boolean left;

    /** Written by whoever carries the batch: the caller, then the thread that connects, then the one that writes. */
    private volatile Progress progress = Progress.CONNECTING;

    /**
     * Creates a batch that has not been sent yet.
     *
     * @param urgent whether servers admit it beyond the maximum in flight
     */
    @SuppressWarnings("FutureReturnValueIgnored") // leave() handles its own failures
    PendingBatch(Batch batch, boolean urgent, Ticker ticker, Scheduler scheduler) {
        this.batch = batch;
        this.urgent = urgent;
        this.ticker = ticker;
        this.scheduler = scheduler;
        ended.whenComplete((nothing, failure) -> leave(failure == null ? null : precise(failure)));
    }

    /** What was not even written by the deadline says nothing about the server. */
    private StoreFailure precise(Throwable failure) {
        StoreFailure told = LettuceFailure.of(failure);
        return told.reason() == RemoteStoreFailure.TIMEOUT && progress == Progress.QUEUED ? unsent() : told;
    }

    /** If even its caller was woken late, for example after a garbage collection, the reply may lie here unread. */
    private StoreFailure late(long waitedNanos, long patienceNanos) {
        boolean overslept = patienceNanos > 0 && waitedNanos - patienceNanos > patienceNanos / 2;
        return overslept
                ? StoreFailure.stalled("this instance stood still while it waited for Redis", null)
                : precise(new TimeoutException());
    }

    private static StoreFailure unsent() {
        return StoreFailure.stalled("the deadline passed before the command was sent to Redis", null);
    }

    Batch batch() {
        return batch;
    }

    /**
     * Enters this server, and leaves the one that redirected it here.
     *
     * @return the connection to it
     * @throws StoreFailure if the server does not admit it, or if nobody waits for it any more
     */
    CompletableFuture<Connection> goTo(Node node) {
        leave(null);
        progress = Progress.CONNECTING;
        enter(node);
        return node.link().live();
    }

    /** Records that the connection is there, and only has to write it. */
    void connected() {
        progress = Progress.QUEUED;
    }

    /** Records that it is being written, and returns what to write. */
    List<Batch> written() {
        progress = Progress.WRITTEN;
        return List.of(batch);
    }

    /** Whether a server may have executed it although no reply has come. */
    boolean mayBeExecuted() {
        return progress == Progress.WRITTEN;
    }

    private synchronized void enter(Node node) {
        if (ended.isDone()) {
            throw unsent();
        }
        at = node.enter(urgent);
    }

    private synchronized @Nullable Entry exit() {
        Entry left = at;
        at = null;
        return left;
    }

    /** Judges outside the monitor, because it calls the listener and the logger. */
    private void leave(@Nullable StoreFailure failure) {
        Entry left = exit();
        if (left != null) {
            left.node().exit(left, failure);
        }
    }

    /**
     * Checks that it is still worth sending: a charge that nobody waits for any more would only use up permits. A refund
     * is always sent.
     *
     * @throws StoreFailure if it is not
     */
    void requireWanted() {
        if (!isWanted()) {
            throw unsent();
        }
    }

    /** Whether somebody waits for the reply, or it is a refund. */
    boolean isWanted() {
        return urgent || !(left || ended.isDone());
    }

    /** Judges the server after this time at the latest, whether or not anybody waits. */
    void endBy(long nanos) {
        Timeout.set(ended, nanos, scheduler);
    }

    /** Registers an action for when a failure has been judged. */
    @SuppressWarnings("FutureReturnValueIgnored") // nothing follows it
    void whenFailed(Consumer<StoreFailure> action) {
        ended.whenComplete((nothing, failure) -> {
            if (failure != null) {
                action.accept(precise(failure));
            }
        });
    }

    /** Completes the batch with a reply or a failure. */
    void arrived(@Nullable Reply received, @Nullable Throwable failure) {
        end(failure);
        if (failure == null) {
            reply.complete(received);
        } else {
            reply.completeExceptionally(failure);
        }
    }

    private void end(@Nullable Throwable failure) {
        if (failure == null) {
            ended.complete(null);
        } else {
            ended.completeExceptionally(failure);
        }
    }

    /** The reply, which has arrived. */
    Reply reply() {
        return reply.join();
    }

    /** Registers an action for the reply or the failure, on the thread that completes the batch. */
    @SuppressWarnings("FutureReturnValueIgnored") // actions handle their own failures
    void then(BiConsumer<@Nullable Reply, @Nullable Throwable> action) {
        reply.whenComplete(action);
    }

    /** Tells the listener if it fails. */
    void tellFailure(RemoteStoreListener listener) {
        then((received, failure) -> {
            if (failure != null) {
                listener.failed(LettuceFailure.of(failure).reason());
            }
        });
    }

    /** Completes when all of these have a reply or have failed. */
    static CompletableFuture<?> all(List<PendingBatch> batches) {
        return batches.size() == 1
                ? batches.get(0).reply
                : CompletableFuture.allOf(
                        batches.stream().map(each -> each.reply).toArray(CompletableFuture[]::new));
    }

    /**
     * Waits for the reply until the deadline. No reply by then is the server's failure.
     *
     * @param patienceNanos how long to wait; not at all unless positive
     * @throws StoreFailure if there is no reply
     */
    Reply await(long patienceNanos) {
        try {
            return get(patienceNanos);
        } catch (StoreFailure e) {
            end(e);
            throw e;
        }
    }

    /**
     * Like {@link #await}, for a caller that has waited until the deadline without blocking a thread.
     *
     * @throws StoreFailure if there is no reply
     */
    Reply awaited(Waited waited) {
        try {
            return got(waited);
        } catch (StoreFailure e) {
            end(e);
            throw e;
        }
    }

    /** Records that its caller has failed, and waits no longer. */
    void giveUp(Throwable reason) {
        left = true;
        end(StoreFailure.stalled("the caller failed while it waited for Redis: " + reason, reason));
    }

    /**
     * Waits for the reply, possibly for less time than the server has: no reply then says nothing about the server.
     *
     * @throws StoreFailure if there is no reply
     */
    Reply get(long patienceNanos) {
        try {
            long from = ticker.nanos();
            if (!Timeout.await(reply, patienceNanos, scheduler)) {
                throw late(ticker.nanos() - from, patienceNanos);
            }
            return arrived();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreFailure(RemoteStoreFailure.INTERRUPTED, "interrupted while waiting for Redis", e);
        } finally {
            left = true;
        }
    }

    /**
     * Like {@link #get}, for a caller that has waited without blocking a thread.
     *
     * @throws StoreFailure if there is no reply
     */
    Reply got(Waited waited) {
        try {
            if (reply.isDone()) {
                return arrived();
            }
            throw waited.failure == null ? late(waited.nanos, waited.patienceNanos) : waited.failure;
        } finally {
            left = true;
        }
    }

    private Reply arrived() {
        try {
            return reply.join();
        } catch (CompletionException e) {
            throw LettuceFailure.of(e.getCause() == null ? e : e.getCause());
        }
    }
}
