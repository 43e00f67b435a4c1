package dev.ratelimit.redis;

import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Writes to the log what operators have to know: once a change, not once a request. Thread-safe. */
final class Journal {

    private static final Logger LOG = System.getLogger(RedisStore.class.getName());
    private static final Pattern MAX_MEMORY = Pattern.compile("(?m)^maxmemory:(\\d+)");
    private static final Pattern EVICTION = Pattern.compile("(?m)^maxmemory_policy:([a-z-]+)");

    private final RedisStore.Listener listener;
    private final Duration openFor;
    private final AtomicBoolean evictionTold = new AtomicBoolean();

    Journal(RedisStore.Listener listener, Duration openFor) {
        this.listener = listener;
        this.openFor = openFor;
    }

    /** A server is left alone because of this failure, or is asked again. */
    void changed(@Nullable StoreFailure failure) {
        if (failure != null) {
            LOG.log(
                    Level.WARNING,
                    "Redis does not decide rate limits any more ({0}: {1}). Until it does, policies are decided as their"
                            + " on-store-failure says; it is tried again every {2} ms or so.",
                    failure.reason().tag(),
                    String.valueOf(failure.getMessage()),
                    Long.toString(openFor.toMillis()));
        } else {
            LOG.log(Level.WARNING, "Redis decides rate limits again.");
        }
        listener.changed();
    }

    /** Looks whether the server may drop keys of ours; it need not tell. */
    @SuppressWarnings("FutureReturnValueIgnored") // a server that does not tell is no worse than before
    void connected(Link.Live live) {
        RedisClusterAsyncCommands<String, byte[]> commands = live.commands();
        commands.info("memory").thenAccept(this::checkEviction);
    }

    private void checkEviction(String memory) {
        Matcher limit = MAX_MEMORY.matcher(memory);
        Matcher policy = EVICTION.matcher(memory);
        boolean evicts = limit.find()
                && !limit.group(1).equals("0")
                && policy.find()
                && !policy.group(1).equals("noeviction");
        if (evicts && evictionTold.compareAndSet(false, true)) {
            LOG.log(
                    Level.WARNING,
                    "Redis drops keys when its memory is full (maxmemory-policy {0}), and with them what clients have"
                            + " used: a flood of new keys would give exhausted ones a full budget. Set maxmemory-policy"
                            + " noeviction, and let rate limits have a Redis of their own.",
                    policy.group(1));
        }
    }
}
