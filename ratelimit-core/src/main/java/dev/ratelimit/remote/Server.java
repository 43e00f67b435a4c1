package dev.ratelimit.remote;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Judges a server by what becomes of the requests to it, and decides whether it is used: its circuit breaker, the probes that
 * close it, and the number of requests in flight. Thread-safe; does not block.
 */
public final class Server {

    /** How a server is reached. No method blocks. */
    public interface Access {

        /** {@return the server's name in log lines; empty while it is unknown} */
        String title();

        /**
         * Asks the server as requests would, with all that they need: what it refuses to one of them would otherwise fail them
         * again as soon as the probe has succeeded.
         *
         * @return completed exceptionally, with a {@link StoreFailure} if it is known why, if the server fails; the caller may
         *     complete it before
         */
        CompletableFuture<?> probe();

        /** Opens another connection, because this one is in doubt. */
        void reconnect();

        /** Looks for a server that has taken the place of this one, which still fails. */
        void lookElsewhere();
    }

    /** After this time without any reply, the first unanswered request puts the connection in doubt. */
    private static final long QUIET_NANOS = 1_000_000_000;

    /** After this many deadlines, whoever has not left his place in flight will never do so. */
    private static final int DEADLINES_PER_SHIFT = 10;

    /** An admitted request, and where it leaves its place if it counts as in flight. */
    record Entry(Server server, @Nullable AtomicInteger place) {}

    private final Access access;
    private final OperatorLog operatorLog;
    private final Breaker breaker;
    private final Probing probing;
    private final Places places;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final String name;
    private final long deadlineNanos;

    /** When the server last replied. Approximate is enough: of replies at the same time, either one counts. */
    private volatile long heardNanos;

    /**
     * Creates a server that is assumed to be healthy.
     *
     * @param access to it
     * @param settings of its store
     * @param operatorLog of its store
     */
    public Server(Access access, RemoteStoreSettings settings, OperatorLog operatorLog) {
        this.access = access;
        this.operatorLog = operatorLog;
        this.ticker = settings.ticker();
        this.scheduler = settings.scheduler();
        this.name = settings.name;
        this.deadlineNanos = settings.deadlineNanos();
        this.heardNanos = ticker.nanos();
        long shiftNanos = DEADLINES_PER_SHIFT * Math.min(deadlineNanos, Long.MAX_VALUE / DEADLINES_PER_SHIFT);
        this.places = new Places(settings.maxInFlight, shiftNanos, heardNanos);
        this.breaker = settings.breaker();
        this.probing = new Probing(new Patient(), scheduler);
    }

    /** {@return whether it is used} */
    public boolean available() {
        return !breaker.open();
    }

    /** Records that there is a new connection. */
    public void connected() {
        operatorLog.reached();
        probing.connected();
    }

    /**
     * Records that it could not be reached even before the first request.
     *
     * @param failure why
     */
    public void unreached(StoreFailure failure) {
        if (breaker.trip()) {
            opened(failure);
        }
    }

    /** Probes it no more. */
    public void close() {
        probing.end();
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
                    RemoteStoreFailure.SATURATED, "max-in-flight requests are already waiting for " + name);
        }
        return new Entry(this, place);
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
            access.reconnect();
        }
        if (opened) {
            opened(failure);
        }
    }

    private void opened(StoreFailure failure) {
        operatorLog.failed(access.title(), failure);
        probing.begin();
    }

    private final class Patient implements Probing.Patient {

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
            CompletableFuture<?> outcome = access.probe();
            Timeout.set(outcome, deadlineNanos, scheduler);
            return outcome;
        }

        @Override
        public void probed(@Nullable Throwable thrown, boolean early) {
            StoreFailure failure = thrown == null ? null : StoreFailure.of(thrown);
            if (failure == null || failure.replied()) {
                heardNanos = ticker.nanos();
            }
            if (failure == null || (failure.replied() && !failure.reason().ofServer())) {
                if (breaker.probed(false)) {
                    operatorLog.recovered(access.title());
                }
                return;
            }
            breaker.probed(true);
            operatorLog.stillFailing(failure);
            if (failure.reason().ofConnection() && !early) {
                access.reconnect();
                access.lookElsewhere();
            }
        }
    }
}
