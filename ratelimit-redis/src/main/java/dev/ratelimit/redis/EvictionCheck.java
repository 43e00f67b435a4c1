package dev.ratelimit.redis;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Warns once if a server may evict our keys; one that forbids {@code INFO} is ignored. Thread-safe. */
final class EvictionCheck {

    private static final Logger LOG = System.getLogger(EvictionCheck.class.getPackageName());
    private static final Pattern MAX_MEMORY = Pattern.compile("(?m)^maxmemory:(\\d+)");
    private static final Pattern EVICTION = Pattern.compile("(?m)^maxmemory_policy:([a-z-]+)");

    private final Topology topology;
    private final AtomicBoolean told = new AtomicBoolean();

    EvictionCheck(Topology topology) {
        this.topology = topology;
    }

    /** Asks the server of a new connection. */
    @SuppressWarnings("FutureReturnValueIgnored") // without an answer, there is nothing to warn about
    void connected(Connection connection) {
        connection.memory().thenAccept(memory -> check(connection.server(), memory));
    }

    private void check(String server, String memory) {
        Matcher limit = MAX_MEMORY.matcher(memory);
        Matcher policy = EVICTION.matcher(memory);
        boolean evicts = limit.find()
                && !limit.group(1).equals("0")
                && policy.find()
                && !policy.group(1).equals("noeviction");
        if (evicts && told.compareAndSet(false, true)) {
            String title = topology.title(server);
            LOG.log(
                    Level.WARNING,
                    "{0} evicts keys when its memory is full (maxmemory-policy {1}), including the state of rate"
                            + " limits: a flood of new keys gives exhausted ones a full budget. Set maxmemory-policy"
                            + " noeviction, and use a separate Redis for rate limits.",
                    title.isEmpty() ? "Redis" : "Redis at " + title,
                    policy.group(1));
        }
    }
}
