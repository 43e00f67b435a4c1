package dev.ratelimit.remote;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ratelimit.Charge;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.remote.Server.Entry;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Charges of a decision on their way to a server, which executes them together. Its outcome is judged once. A server that
 * redirects it is healthy; from then on the next one is judged. Thread-safe.
 */
public final class Request {

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
            return new Waited(nanos, patienceNanos, failure == null ? null : StoreFailure.of(failure));
        }
    }

    /** How far it has come to the server that it goes to. */
    private enum Progress {
        CONNECTING,
        /** It waits to be written. */
        QUEUED,
        WRITTEN
    }

    private final List<Charge> charges;
    private final Stamp stamp;
    private final boolean urgent;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final String store;
    private final CompletableFuture<Answer> answer = new CompletableFuture<>();

    /** Completed when the outcome for the server is known. */
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    @GuardedBy("this")
    private @Nullable Entry at;

    /** Whether its caller waits no longer. */
    private volatile boolean left;

    /** Written by whoever carries the request: the caller, then the thread that connects, then the one that writes. */
    private volatile Progress progress = Progress.CONNECTING;

    /**
     * Creates a request that has not been sent yet. A refund is sent whether or not anybody waits for it, and servers admit it
     * beyond the maximum in flight.
     *
     * @param charges all on one server
     * @param operation what to do with them
     * @param stamp by which they are given back, or were charged
     * @param settings of the store
     */
    @SuppressWarnings("FutureReturnValueIgnored") // leave() handles its own failures
    public Request(List<Charge> charges, Operation operation, Stamp stamp, RemoteStoreSettings settings) {
        this.charges = charges;
        this.stamp = stamp;
        this.urgent = operation == Operation.REFUND;
        this.ticker = settings.ticker();
        this.scheduler = settings.scheduler();
        this.store = settings.name;
        ended.whenComplete((nothing, failure) -> leave(failure == null ? null : precise(failure)));
    }

    /** What was not even written by the deadline says nothing about the server. */
    private StoreFailure precise(Throwable failure) {
        StoreFailure told = failure instanceof TimeoutException
                ? new StoreFailure(RemoteStoreFailure.TIMEOUT, store + " did not answer in time")
                : StoreFailure.of(failure);
        return told.reason() == RemoteStoreFailure.TIMEOUT && progress == Progress.QUEUED ? unsent() : told;
    }

    /** If even its caller was woken late, for example after a garbage collection, the answer may lie here unread. */
    private StoreFailure late(long waitedNanos, long patienceNanos) {
        boolean overslept = patienceNanos > 0 && waitedNanos - patienceNanos > patienceNanos / 2;
        return overslept
                ? StoreFailure.stalled("this instance stood still while it waited for " + store, null)
                : precise(new TimeoutException());
    }

    private StoreFailure unsent() {
        return StoreFailure.stalled("the deadline passed before the request was sent to " + store, null);
    }

    /** {@return what is charged or given back} */
    public List<Charge> charges() {
        return charges;
    }

    /** {@return the number by which its charges are given back, and for a refund the time when they were taken} */
    public Stamp stamp() {
        return stamp;
    }

    /**
     * Enters this server, and leaves the one that redirected it here. To be called before it is sent.
     *
     * @param server that it goes to
     * @throws StoreFailure if the server does not admit it, or if nobody waits for it any more
     */
    public void goTo(Server server) {
        leave(null);
        progress = Progress.CONNECTING;
        enter(server);
    }

    /** Records that the connection is there, and only has to write it. */
    public void connected() {
        progress = Progress.QUEUED;
    }

    /** Records that it is being written: from now on, a server may execute it. */
    public void written() {
        progress = Progress.WRITTEN;
    }

    /** Whether a server may have executed it although no answer has come. */
    boolean mayBeExecuted() {
        return progress == Progress.WRITTEN;
    }

    private synchronized void enter(Server server) {
        if (ended.isDone()) {
            throw unsent();
        }
        at = server.enter(urgent);
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
            left.server().exit(left, failure);
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

    /** {@return whether it is still worth sending: somebody waits for the answer, or it is a refund} */
    public boolean isWanted() {
        return urgent || !(left || ended.isDone());
    }

    /** Judges the server after this time at the latest, whether or not anybody waits. */
    void endBy(long nanos) {
        Timeout.set(ended, nanos, scheduler);
    }

    /**
     * Registers an action for when a failure has been judged.
     *
     * @param action runs on the thread that completes the request, or on that of an alarm
     */
    @SuppressWarnings("FutureReturnValueIgnored") // nothing follows it
    public void whenFailed(Consumer<StoreFailure> action) {
        ended.whenComplete((nothing, failure) -> {
            if (failure != null) {
                action.accept(precise(failure));
            }
        });
    }

    /**
     * Completes the request with an answer or a failure; to be called in any case, however late.
     *
     * @param received what a server has said; {@code null} if there is a failure
     * @param failure a {@link StoreFailure}, or what {@link StoreFailure#of} makes one of
     */
    public void arrived(@Nullable Answer received, @Nullable Throwable failure) {
        end(failure);
        if (failure == null) {
            answer.complete(received);
        } else {
            answer.completeExceptionally(failure);
        }
    }

    private void end(@Nullable Throwable failure) {
        if (failure == null) {
            ended.complete(null);
        } else {
            ended.completeExceptionally(failure);
        }
    }

    /** The answer, which has arrived. */
    Answer answer() {
        return answer.join();
    }

    /** Registers an action for the answer or the failure, on the thread that completes the request. */
    @SuppressWarnings("FutureReturnValueIgnored") // actions handle their own failures
    void then(BiConsumer<@Nullable Answer, @Nullable Throwable> action) {
        answer.whenComplete(action);
    }

    /** Tells the listener if it fails. */
    void tellFailure(RemoteStoreListener listener) {
        then((received, failure) -> {
            if (failure != null) {
                listener.failed(StoreFailure.of(failure).reason());
            }
        });
    }

    /** Completes when all of these have an answer or have failed. */
    static CompletableFuture<?> all(List<Request> requests) {
        return requests.size() == 1
                ? requests.get(0).answer
                : CompletableFuture.allOf(
                        requests.stream().map(each -> each.answer).toArray(CompletableFuture[]::new));
    }

    /**
     * Waits for the answer until the deadline. No answer by then is the server's failure.
     *
     * @param patienceNanos how long to wait; not at all unless positive
     * @throws StoreFailure if there is no answer
     */
    Answer await(long patienceNanos) {
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
     * @throws StoreFailure if there is no answer
     */
    Answer awaited(Waited waited) {
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
        end(StoreFailure.stalled("the caller failed while it waited for " + store + ": " + reason, reason));
    }

    /**
     * Waits for the answer, possibly for less time than the server has: no answer then says nothing about the server.
     *
     * @throws StoreFailure if there is no answer
     */
    Answer get(long patienceNanos) {
        try {
            long from = ticker.nanos();
            if (!Timeout.await(answer, patienceNanos, scheduler)) {
                throw late(ticker.nanos() - from, patienceNanos);
            }
            return arrived();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreFailure(RemoteStoreFailure.INTERRUPTED, "interrupted while waiting for " + store, e);
        } finally {
            left = true;
        }
    }

    /**
     * Like {@link #get}, for a caller that has waited without blocking a thread.
     *
     * @throws StoreFailure if there is no answer
     */
    Answer got(Waited waited) {
        try {
            if (answer.isDone()) {
                return arrived();
            }
            throw waited.failure == null ? late(waited.nanos, waited.patienceNanos) : waited.failure;
        } finally {
            left = true;
        }
    }

    private Answer arrived() {
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw StoreFailure.of(e);
        }
    }
}
