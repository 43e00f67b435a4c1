package dev.ratelimit.redis;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one connection that all decisions share: made when it is first needed, and made anew when it is lost or in doubt.
 * The client itself does not reconnect, so nothing is queued meanwhile or sent twice. Thread-safe; no method waits.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what comes of closing a connection is of no interest
final class Link implements AutoCloseable {

    /** Keys are text, and what is sent to scripts is not. */
    static final RedisCodec<String, byte[]> CODEC = RedisCodec.of(StringCodec.ASCII, ByteArrayCodec.INSTANCE);

    /** A connection, and how to use it. */
    record Live(
            StatefulConnection<String, byte[]> connection,
            RedisClusterAsyncCommands<String, byte[]> commands,
            Topology topology) {}

    /** Which servers there are. */
    interface Topology {

        /** The name of the server that has this slot. */
        String server(int slot);

        /** The names of all that have slots. */
        Set<String> servers();
    }

    /** Makes connections. */
    interface Connector {

        /** Connects, which may take its time. */
        Live connect();

        /** The slot of a key of this name; all keys of one slot are always on one server. */
        int slot(String name);
    }

    /** How long an attempt to connect may take before another one is begun. */
    private static final long PATIENCE_SECONDS = 3;

    /** How long a connection that was replaced may still bring replies. */
    private static final long FAREWELL_SECONDS = 1;

    private final Connector connector;
    private final Consumer<Live> greeting;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable CompletableFuture<Live> current;
    private @Nullable CompletableFuture<Live> coming;
    private volatile boolean closed;

    /**
     * A link that is not connected yet.
     *
     * @param greeting is given each connection when it has been made
     */
    Link(Connector connector, Consumer<Live> greeting) {
        this.connector = connector;
        this.greeting = greeting;
    }

    /** The slot of a key of this name. */
    int slot(String name) {
        return connector.slot(name);
    }

    /** Which servers there are; {@code null} while that is not known. */
    @Nullable
    Topology topology() {
        CompletableFuture<Live> known = current;
        return known != null && known.isDone() && !known.isCompletedExceptionally()
                ? known.join().topology()
                : null;
    }

    /** The connection, or the one that is being made. */
    CompletableFuture<Live> live() {
        CompletableFuture<Live> known = current;
        if (known != null && usable(known)) {
            return known;
        }
        lock.lock();
        try {
            CompletableFuture<Live> latest = current;
            if (latest == null || !usable(latest)) {
                if (latest != null && !latest.isCompletedExceptionally()) {
                    latest.join().connection().closeAsync();
                }
                latest = coming != null ? coming : attempt();
                current = latest;
            }
            return latest;
        } finally {
            lock.unlock();
        }
    }

    /** Makes another connection, and takes that as soon as it is there. */
    void replace() {
        lock.lock();
        try {
            if (!closed && coming == null) {
                attempt();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed && current != null) {
                current.thenAccept(live -> live.connection().closeAsync());
            }
            closed = true;
        } finally {
            lock.unlock();
        }
    }

    private static boolean usable(CompletableFuture<Live> known) {
        return !known.isDone()
                || (!known.isCompletedExceptionally()
                        && known.join().connection().isOpen());
    }

    private CompletableFuture<Live> attempt() {
        CompletableFuture<Live> attempt = new CompletableFuture<>();
        if (closed) {
            attempt.completeExceptionally(new StoreFailure(RedisStore.Failure.CONNECTION, "the store is closed"));
            return attempt;
        }
        coming = attempt;
        Thread thread = new Thread(() -> connect(attempt), "ratelimit-redis-connect");
        thread.setDaemon(true);
        thread.start();
        attempt.orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS);
        attempt.whenComplete((live, failure) -> arrived(attempt, live));
        return attempt;
    }

    private void connect(CompletableFuture<Live> attempt) {
        try {
            Live live = connector.connect();
            if (!attempt.complete(live)) {
                live.connection().closeAsync();
            }
        } catch (RuntimeException | Error e) {
            attempt.completeExceptionally(e);
        }
    }

    private void arrived(CompletableFuture<Live> attempt, @Nullable Live live) {
        CompletableFuture<Live> former = null;
        lock.lock();
        try {
            if (coming == attempt) {
                coming = null;
            }
            if (live != null && closed) {
                live.connection().closeAsync();
            } else if (live != null && current != attempt) {
                former = current;
                current = attempt;
            }
        } finally {
            lock.unlock();
        }
        if (former != null) {
            former.thenAcceptAsync(
                    old -> old.connection().closeAsync(),
                    CompletableFuture.delayedExecutor(FAREWELL_SECONDS, TimeUnit.SECONDS));
        }
        if (live != null) {
            greeting.accept(live);
        }
    }
}
