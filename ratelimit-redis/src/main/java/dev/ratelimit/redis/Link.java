package dev.ratelimit.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ratelimit.Scheduler;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.StoreFailure;
import dev.ratelimit.remote.Timeout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one connection to a server that all decisions share: opened when it is first needed, and replaced when it is lost
 * or in doubt. A lost one is replaced once; if that fails, the next request tries again. The client itself does not
 * reconnect, so nothing is queued meanwhile or sent twice. Thread-safe; no method blocks.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the result of closing a connection does not matter
final class Link {

    /** How long a replaced connection may still deliver replies. */
    private static final long CLOSE_DELAY_NANOS = 1_000_000_000;

    /** How long a lost connection is left alone, so that a server that closes each one is not asked without a break. */
    private static final long REOPEN_DELAY_NANOS = 1_000_000_000;

    /** The maximum number of attempts at once: the client may take longer for one than anybody waits. */
    private static final int MAX_ATTEMPTS = 3;

    private final Topology topology;
    private final String server;
    private final Consumer<Connection> opened;
    private final Scheduler scheduler;
    private final Executor threads;
    private final ReentrantLock lock = new ReentrantLock();

    /** Written under the lock, and read without it while its connection is open. */
    private volatile @Nullable CompletableFuture<Connection> current;

    @GuardedBy("lock")
    private @Nullable CompletableFuture<Connection> coming;

    @GuardedBy("lock")
    private int attempts;

    /** Whether to try again if the attempt under way fails. */
    @GuardedBy("lock")
    private boolean again;

    @GuardedBy("lock")
    private boolean missed;

    @GuardedBy("lock")
    private boolean closed;

    /**
     * Creates a link to this server, which is not connected yet.
     *
     * @param opened receives each new connection
     * @param threads runs attempts to connect, which block; may fail to start one
     */
    Link(Topology topology, String server, Consumer<Connection> opened, Scheduler scheduler, Executor threads) {
        this.topology = topology;
        this.server = server;
        this.opened = opened;
        this.scheduler = scheduler;
        this.threads = threads;
    }

    String server() {
        return server;
    }

    /** The connection, or the one being opened. */
    CompletableFuture<Connection> live() {
        CompletableFuture<Connection> known = current;
        if (known != null && usable(known)) {
            return known;
        }
        lock.lock();
        try {
            CompletableFuture<Connection> latest = current;
            if (latest == null || !usable(latest)) {
                if (latest != null && !latest.isCompletedExceptionally()) {
                    latest.join().close();
                }
                latest = coming != null ? coming : attempt();
                current = latest;
            }
            return latest;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Opens another connection and switches to it as soon as it is open. If an attempt is under way and fails, another
     * follows: by now, another server may have taken over.
     */
    void replace() {
        lock.lock();
        try {
            // a new connection that has just arrived must itself be replaced
            again = coming != null && !coming.isDone();
            if (!again && !closed) {
                attempt();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Closes the connection and opens no other. */
    CompletionStage<?> close() {
        lock.lock();
        try {
            closed = true;
            CompletableFuture<Connection> open = current;
            return open == null ? CompletableFuture.completedFuture(null) : open.thenCompose(Connection::close);
        } finally {
            lock.unlock();
        }
    }

    private static boolean usable(CompletableFuture<Connection> known) {
        return !known.isDone()
                || (!known.isCompletedExceptionally() && known.join().isOpen());
    }

    /** Any failure ends the attempt, so that another one can start. */
    @GuardedBy("lock")
    private CompletableFuture<Connection> attempt() {
        if (closed || attempts >= MAX_ATTEMPTS) {
            return CompletableFuture.failedFuture(new StoreFailure(
                    RemoteStoreFailure.CONNECTION,
                    closed ? "the store is closed" : MAX_ATTEMPTS + " connection attempts are still pending"));
        }
        CompletableFuture<Connection> attempt = expected();
        coming = attempt;
        attempts++;
        try {
            Timeout.set(attempt, Topology.PATIENCE.toNanos(), scheduler);
            threads.execute(() -> connect(attempt));
        } catch (RuntimeException | Error e) {
            // the thread may fail to start
            attempts--;
            attempt.completeExceptionally(e);
        }
        return attempt;
    }

    private CompletableFuture<Connection> expected() {
        CompletableFuture<Connection> expected = new CompletableFuture<>();
        expected.whenComplete((live, failure) -> arrived(expected, live));
        return expected;
    }

    private void connect(CompletableFuture<Connection> attempt) {
        try {
            Connection live = topology.connect(server);
            if (!attempt.complete(live) && !late().complete(live)) {
                live.close();
            }
        } catch (RuntimeException | Error e) {
            attempt.completeExceptionally(e);
        } finally {
            ended();
        }
    }

    private void ended() {
        lock.lock();
        try {
            attempts--;
        } finally {
            lock.unlock();
        }
    }

    /**
     * What a timed-out attempt completes if it succeeds late: the next attempt or, if that failed too, a new future.
     */
    private CompletableFuture<Connection> late() {
        lock.lock();
        try {
            if (coming != null) {
                return coming;
            }
            return missed ? expected() : CompletableFuture.failedFuture(new TimeoutException());
        } finally {
            lock.unlock();
        }
    }

    private void closeLater(Connection replaced) {
        try {
            scheduler.schedule(replaced::close, CLOSE_DELAY_NANOS);
        } catch (RuntimeException | Error e) {
            replaced.close();
        }
    }

    private void arrived(CompletableFuture<Connection> attempt, @Nullable Connection live) {
        CompletableFuture<Connection> former = null;
        boolean retry = false;
        lock.lock();
        try {
            if (coming == attempt) {
                coming = null;
                retry = again && live == null;
                again = false;
            }
            missed = live == null;
            if (live != null && closed) {
                live.close();
            } else if (live != null && current != attempt) {
                former = current;
                current = attempt;
            }
        } finally {
            lock.unlock();
        }
        if (former != null) {
            former.thenAccept(this::closeLater);
        }
        if (live != null) {
            opened.accept(live);
            live.whenClosed(() -> lost(live));
        }
        if (retry) {
            replace();
        }
    }

    /** A server that closes an idle connection must not let the next request wait for another one. */
    private void lost(Connection connection) {
        lock.lock();
        try {
            if (!closed && isCurrent(connection)) {
                scheduler.schedule(() -> reopen(connection), REOPEN_DELAY_NANOS);
            }
        } catch (RuntimeException | Error e) {
            // the next request opens one
        } finally {
            lock.unlock();
        }
    }

    private void reopen(Connection lost) {
        if (isCurrent(lost)) {
            replace();
        }
    }

    private boolean isCurrent(Connection connection) {
        CompletableFuture<Connection> latest = current;
        return latest != null && latest.isDone() && !latest.isCompletedExceptionally() && latest.join() == connection;
    }
}
