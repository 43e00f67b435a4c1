package dev.ratelimit.redis;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisCluster;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.test.FakeTicker;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The store contract on a cluster of three nodes: by day with token buckets, as {@link RedisStoreTest} has a list of times,
 * whose script does not know which server it runs on.
 */
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

    @Override
    protected Stream<Limit> limits(Rate rate) {
        return Boolean.getBoolean("nightly") ? super.limits(rate) : Stream.of(TokenBucket.of(rate));
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
