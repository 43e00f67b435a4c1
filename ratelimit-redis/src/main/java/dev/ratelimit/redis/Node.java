package dev.ratelimit.redis;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.redis.Letter.Way;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.StoreFailure;
import dev.ratelimit.remote.Timeout;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A server with its link, its clock and its circuit breaker. Thread-safe. */
final class Node implements Probing.Patient {

    /** After this time without any reply, the first unanswered request puts the connection in doubt. */
    private static final long QUIET_NANOS = 1_000_000_000;

    /** After this many deadlines, whoever has not left his place in flight will never do so. */
    private static final int DEADLINES_PER_SHIFT = 10;

    /** An admitted request, and where it leaves its place if it counts as in flight. */
    record Entry(Node node, @Nullable AtomicInteger place) {}

    private final Link link;
    private final Breaker breaker;
    private final Probing probing;
    private final ScriptExecutor executor;
    private final ServerClock clock;
    private final Places places;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final long deadlineNanos;
    private final OperatorLog operatorLog;
    private final Map<Integer, Combiner> combiners = new ConcurrentHashMap<>();

    /** When the server last replied. Approximate is enough: of replies at the same time, either one counts. */
    private volatile long heardNanos;

    /** Creates a server that is assumed to be healthy. */
    Node(Topology topology, String server, ScriptExecutor executor, ServerSettings settings, OperatorLog operatorLog) {
        this.executor = executor;
        this.clock = new ServerClock(settings.ticker(), settings.deadline().toNanos());
        this.ticker = settings.ticker();
        this.scheduler = settings.scheduler();
        this.deadlineNanos = settings.deadline().toNanos();
        this.operatorLog = operatorLog;
        this.heardNanos = ticker.nanos();
        long shiftNanos = DEADLINES_PER_SHIFT * Math.min(deadlineNanos, Long.MAX_VALUE / DEADLINES_PER_SHIFT);
        this.places = new Places(settings.maxInFlight(), shiftNanos, heardNanos);
        this.breaker = settings.breaker();
        this.probing = new Probing(this, scheduler);
        this.link = new Link(topology, server, this::opened, scheduler, settings.threads());
    }

    private void opened(Connection live) {
        // those of slots that are not used any more would keep former connections in memory
        combiners.clear();
        operatorLog.connected(live);
        probing.connected();
    }

    boolean available() {
        return !breaker.open();
    }

    Link link() {
        return link;
    }

    ServerClock clock() {
        return clock;
    }

    /** Closes the link, and opens no other. */
    CompletionStage<?> close() {
        probing.end();
        return link.close();
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
                                : new Combiner(new Way(connection, clock, false), executor));
    }

    /**
     * Sends a batch that the caller awaits until the deadline, unless the server is known to fail.
     *
     * @param owner gets the batch before it takes a place and charges anything: a thread may fail on any line afterwards
     */
    @SuppressWarnings("FutureReturnValueIgnored") // PendingBatch handles its own failures
    PendingBatch send(Batch batch, Operation operation, long atMicros, List<PendingBatch> owner) {
        PendingBatch sent = new PendingBatch(batch, operation == Operation.REFUND, ticker, scheduler);
        owner.add(sent);
        try {
            executor.run(sent, this, operation, atMicros).whenComplete(sent::arrived);
        } catch (RuntimeException | Error e) {
            // nobody will tell it about a reply
            sent.arrived(null, e);
        }
        return sent;
    }

    /** Sends a batch that the caller need not await. */
    PendingBatch post(Batch batch, Operation operation, long atMicros, List<PendingBatch> owner) {
        PendingBatch sent = send(batch, operation, atMicros, owner);
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
        if (breaker.open()) {
            probing.ensure();
            throw new StoreFailure(RemoteStoreFailure.OPEN, "the circuit breaker is open after recent failures");
        }
        AtomicInteger place = places.take(ticker.nanos());
        if (place == null && !urgent) {
            throw new StoreFailure(
                    RemoteStoreFailure.SATURATED, "max-in-flight commands are already waiting for Redis");
        }
        return new Entry(this, place);
    }

    /** Records that Redis could not be reached even before the first request. */
    void unreached(StoreFailure failure) {
        if (breaker.trip()) {
            opened(failure);
        }
    }

    /** Records an admitted request's outcome, {@code null} for success; to be called once per request. */
    void exit(Entry entry, @Nullable StoreFailure failure) {
        AtomicInteger place = entry.place();
        if (place != null) {
            place.decrementAndGet();
        }
        judge(failure);
    }

    private void judge(@Nullable StoreFailure failure) {
        long now = ticker.nanos();
        boolean quiet = now - heardNanos >= QUIET_NANOS;
        if (failure == null || failure.replied()) {
            heardNanos = now;
        }
        if (failure != null && !failure.reason().showsServerState()) {
            return;
        }
        if (failure == null || !failure.reason().ofServer()) {
            breaker.record(false);
            return;
        }
        boolean opened = failure.reason().ofWriting() ? breaker.trip() : breaker.record(true);
        if (failure.reason().ofConnection() && (opened || quiet)) {
            // the next connection may be silent for as long
            heardNanos = now;
            link.replace();
        }
        if (opened) {
            opened(failure);
        }
    }

    private void opened(StoreFailure failure) {
        operatorLog.failed(link.server(), failure);
        probing.begin();
    }

    @Override
    public boolean ill() {
        return breaker.open();
    }

    @Override
    public long untilProbeNanos() {
        return breaker.untilProbeNanos();
    }

    @Override
    public CompletableFuture<?> probe() {
        CompletableFuture<?> outcome = executor.probe(this);
        Timeout.set(outcome, deadlineNanos, scheduler);
        return outcome;
    }

    @Override
    public void probed(@Nullable Throwable thrown, boolean early) {
        StoreFailure failure = thrown == null ? null : LettuceFailure.of(thrown);
        if (failure == null || failure.replied()) {
            heardNanos = ticker.nanos();
        }
        if (failure == null || (failure.replied() && !failure.reason().ofServer())) {
            if (breaker.probed(false)) {
                operatorLog.recovered(link.server());
            }
            return;
        }
        breaker.probed(true);
        operatorLog.stillFailing(failure);
        if (failure.reason().ofConnection() && !early) {
            link.replace();
            executor.failing(this);
        }
    }
}
