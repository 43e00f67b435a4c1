package dev.ratelimit.redis;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.redis.Breaker.Permission;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** A server with its link and its circuit breaker. Thread-safe. */
final class Node {

    /** After this time without any reply, the first unanswered request puts the connection in doubt. */
    private static final long QUIET_NANOS = 1_000_000_000;

    /** An admitted request; {@code placed} if it counts as in flight. */
    record Entry(Node node, Permission permission, boolean placed) {}

    private final Link link;
    private final Breaker breaker;
    private final ScriptExecutor executor;
    private final Semaphore places;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final long deadlineNanos;
    private final OperatorLog operatorLog;
    private final Map<Integer, Combiner> combiners = new ConcurrentHashMap<>();
    private volatile long heardNanos;

    /** Creates a server that is assumed to be healthy. */
    Node(Link link, Breaker breaker, ScriptExecutor executor, ServerSettings settings, OperatorLog operatorLog) {
        this.link = link;
        this.breaker = breaker;
        this.executor = executor;
        this.places = new Semaphore(settings.maxInFlight());
        this.ticker = settings.ticker();
        this.scheduler = settings.scheduler();
        this.deadlineNanos = settings.deadline().toNanos();
        this.operatorLog = operatorLog;
        this.heardNanos = ticker.nanos();
    }

    boolean available() {
        return !breaker.open();
    }

    Link link() {
        return link;
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    /** Combines charges to this slot over the current connection. */
    Combiner combiner(Connection connection, int slot) {
        Combiner known = combiners.get(slot);
        return known != null && known.uses(connection)
                ? known
                : combiners.compute(
                        slot,
                        (same, latest) -> latest != null && latest.uses(connection)
                                ? latest
                                : new Combiner(connection, executor));
    }

    /** Sends a batch that the caller awaits until the deadline, unless the server is known to fail. */
    @SuppressWarnings("FutureReturnValueIgnored") // PendingBatch handles its own failures
    PendingBatch send(Batch batch, Operation operation, long atMicros) {
        PendingBatch sent = new PendingBatch(batch, operation == Operation.REFUND, scheduler);
        executor.run(sent, this, operation, atMicros).whenComplete(sent::arrived);
        return sent;
    }

    /** Sends a batch that the caller need not await. */
    PendingBatch post(Batch batch, Operation operation, long atMicros) {
        PendingBatch sent = send(batch, operation, atMicros);
        sent.endBy(deadlineNanos);
        return sent;
    }

    /**
     * Admits a request if the breaker permits it and fewer than the maximum are in flight; it counts until it
     * {@linkplain #exit exits}.
     *
     * @param urgent whether to admit it even beyond the maximum
     * @throws StoreFailure if it is not admitted
     */
    Entry enter(boolean urgent) {
        Permission permission = breaker.enter();
        if (permission == Permission.NO) {
            throw new StoreFailure(RedisStoreFailure.OPEN, "the circuit breaker is open after recent failures");
        }
        boolean placed = places.tryAcquire();
        if (!placed && !urgent && !permission.probes()) {
            throw new StoreFailure(RedisStoreFailure.SATURATED, "max-in-flight commands are already waiting for Redis");
        }
        return new Entry(this, permission, placed);
    }

    /** Records that Redis could not be reached even before the first request. */
    void unreached(StoreFailure failure) {
        if (breaker.trip()) {
            operatorLog.failed(link.server(), failure);
        }
    }

    /** Records an admitted request's outcome, {@code null} for success; to be called once per request. */
    void exit(Entry entry, @Nullable StoreFailure failure) {
        if (entry.placed()) {
            places.release();
        }
        judge(entry.permission(), failure);
    }

    private void judge(Permission permission, @Nullable StoreFailure failure) {
        long now = ticker.nanos();
        boolean quiet = now - heardNanos >= QUIET_NANOS;
        if (failure == null || failure.replied()) {
            heardNanos = now;
        }
        boolean probe = permission.probes();
        if (failure != null && !failure.showsServerState() && !probe) {
            return;
        }
        if (failure == null || !(failure.ofServer() || (probe && failure.reason() == RedisStoreFailure.INTERRUPTED))) {
            if (breaker.record(permission, false)) {
                operatorLog.recovered(link.server());
            }
            return;
        }
        boolean opened = breaker.record(permission, true);
        if (failure.ofConnection() && (opened || quiet || permission == Permission.PROBE)) {
            // the next connection may be silent for as long
            heardNanos = now;
            link.replace();
        }
        if (opened) {
            operatorLog.failed(link.server(), failure);
        }
    }
}
