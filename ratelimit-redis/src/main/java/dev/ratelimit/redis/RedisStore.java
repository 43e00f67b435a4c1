package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.CheckReturnValue;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Ticker;
import dev.ratelimit.remote.RemoteStore;
import dev.ratelimit.remote.RemoteStoreSettings;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;

/**
 * Keeps the state of keys in Redis or Valkey, so that all instances of an application share their limits. Each decision
 * runs one script on the server, by the server's clock, for all limits of all policies: all or nothing. In a cluster
 * each slot involved runs one script, all at the same time, and what one slot charged is refunded if another refuses.
 *
 * <p>A decision never waits longer than the deadline. When Redis has not answered by then, or is known to fail, each
 * policy's {@link dev.ratelimit.OnStoreFailure} applies; after some failures Redis is not asked for a while.
 *
 * <p>Thread-safe. Close it before the client, which stays open.
 */
@CheckReturnValue
public final class RedisStore extends RemoteStore {

    private final Router router;
    private final Ticker ticker;

    /** Creates a store on these servers, which were created with the same settings. */
    RedisStore(Router router, RemoteStoreSettings settings) {
        super(router, settings);
        this.router = router;
        this.ticker = settings.ticker();
    }

    /**
     * Builds a store on this client's server, or on the master that its sentinels name.
     *
     * @param client used by this store alone: the store changes its options so that it queues nothing and sends nothing
     *     twice
     * @return a builder with the default settings
     */
    public static RedisStoreBuilder builder(RedisClient client) {
        return new RedisStoreBuilder(settings -> new LettuceServer(client));
    }

    /**
     * Builds a store on this client's cluster, with its own connections to each node.
     *
     * @param client finds the nodes and defines how to connect; used by this store alone
     * @return a builder with the default settings
     */
    public static RedisStoreBuilder builder(RedisClusterClient client) {
        return new RedisStoreBuilder(
                settings -> new Cluster(new LettuceClusterConnector(client), settings.ticker(), settings.random()));
    }

    /**
     * Checks that Redis can keep this limit exactly. Needs no server.
     *
     * @param limit any limit
     * @throws IllegalArgumentException if it cannot; the message says why
     */
    public static void check(Limit limit) {
        RedisLimits.of(limit);
    }

    /**
     * {@return whether Redis took part in this decision; if not, this instance decided alone, or spent a lease}
     *
     * @param decision of any store
     */
    public static boolean decidedByRedis(Decision decision) {
        return decidedByServers(decision);
    }

    /** Connects to all servers and peeks at this charge, so that the first request finds everything warmed up. */
    void warmUp(Charge first, Duration patience) {
        long end = ticker.nanos() + patience.toNanos();
        if (router.connected(end)) {
            warmUp(first, end - ticker.nanos());
        }
    }
}
