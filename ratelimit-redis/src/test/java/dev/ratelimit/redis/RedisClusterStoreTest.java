package dev.ratelimit.redis;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.redis.server.RedisCluster;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.test.FakeTicker;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The store contract on a cluster of three nodes. */
@Tag("slow")
class RedisClusterStoreTest extends RedisStoreContract {

    @Started
    private static RedisCluster cluster;

    private static RedisClusterClient client;
    private static RedisClusterCommands<String, String> control;

    @BeforeAll
    static void createClients() {
        client = cluster.newClient();
        control = cluster.newClient().connect().sync();
    }

    /** Permits taken in one slot are refunded when another one refuses. */
    @Override
    protected boolean decidesAtOneMoment() {
        return false;
    }

    @Override
    protected RateLimitStore newStore(FakeTicker time) {
        return new FakeClock(build(RedisStore.builder(client), time), control, time);
    }
}
