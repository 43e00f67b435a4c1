package dev.ratelimit.redis;

import dev.ratelimit.remote.RemoteStoreListener;
import dev.ratelimit.remote.StoreFailure;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Logs what operators need to know: once per change, not per request. Thread-safe. */
final class OperatorLog {

    private static final Logger LOG = System.getLogger(OperatorLog.class.getPackageName());
    private static final Pattern MAX_MEMORY = Pattern.compile("(?m)^maxmemory:(\\d+)");
    private static final Pattern EVICTION = Pattern.compile("(?m)^maxmemory_policy:([a-z-]+)");

    private final RemoteStoreListener listener;
    private final Topology topology;
    private final String pause;
    private final AtomicBoolean evictionTold = new AtomicBoolean();
    private volatile boolean reached;
    private volatile boolean closed;

    /**
     * Creates a journal for these servers.
     *
     * @param openFor the time between two attempts to use a failing server
     */
    OperatorLog(RemoteStoreListener listener, Topology topology, Duration openFor) {
        this.listener = listener;
        this.topology = topology;
        this.pause = "about every " + openFor.toMillis() + " ms";
    }

    /** Logs that this failure stops requests to a server. */
    void failed(String server, StoreFailure failure) {
        warn(
                "{0} {1} ({2}: {3}). Until it answers, policies apply their on-store-failure. It is tried again {4}.",
                name(server),
                reached ? "is unavailable" : "has not been reached yet",
                failure.reason().tag(),
                String.valueOf(failure.getMessage()),
                pause);
        listener.changed();
    }

    /** Tells why a probe of a server has failed: by now, the reason may be another one. */
    void stillFailing(StoreFailure failure) {
        listener.failed(failure.reason());
    }

    /** Logs that a server answers and is used again. */
    void recovered(String server) {
        warn("{0} is available again and decides rate limits.", name(server));
        listener.changed();
    }

    /** Stops logging: it is normal that a closed store does not ask Redis. */
    void close() {
        closed = true;
    }

    private void warn(String message, Object... parameters) {
        if (!closed) {
            LOG.log(Level.WARNING, message, parameters);
        }
    }

    private String name(String server) {
        String title = topology.title(server);
        return title.isEmpty() ? "Redis" : "Redis at " + title;
    }

    /** Checks whether the server may evict our keys; a server that forbids {@code INFO} is ignored. */
    @SuppressWarnings("FutureReturnValueIgnored") // without an answer, there is nothing to warn about
    void connected(Connection connection) {
        reached = true;
        connection.memory().thenAccept(memory -> checkEviction(connection.server(), memory));
    }

    private void checkEviction(String server, String memory) {
        Matcher limit = MAX_MEMORY.matcher(memory);
        Matcher policy = EVICTION.matcher(memory);
        boolean evicts = limit.find()
                && !limit.group(1).equals("0")
                && policy.find()
                && !policy.group(1).equals("noeviction");
        if (evicts && evictionTold.compareAndSet(false, true)) {
            warn(
                    "{0} evicts keys when its memory is full (maxmemory-policy {1}), including the state of rate"
                            + " limits: a flood of new keys gives exhausted ones a full budget. Set maxmemory-policy"
                            + " noeviction, and use a separate Redis for rate limits.",
                    name(server), policy.group(1));
        }
    }
}
