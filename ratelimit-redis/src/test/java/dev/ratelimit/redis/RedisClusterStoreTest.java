package dev.ratelimit.redis;

import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.redis.server.RedisCluster;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.RateLimitStoreContract;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The store contract on a cluster of three nodes whose scripts use a fake clock. */
@Tag("slow")
class RedisClusterStoreTest extends RateLimitStoreContract {

    @Started
    private static RedisCluster cluster;

    private static RedisClusterClient client;
    private static RedisClusterCommands<String, String> control;
    private static int stores;

    @BeforeAll
    static void createClients() {
        client = cluster.newClient();
        control = cluster.newClient().connect().sync();
    }

    @Override
    protected Duration resolution() {
        return Duration.ofNanos(1000);
    }

    /** Permits taken in one slot are refunded when another one refuses. */
    @Override
    protected boolean decidesAtOneMoment() {
        return false;
    }

    @Override
    protected RateLimitStore newStore(FakeTicker time) {
        RedisStore store = RedisStore.builder(client)
                .prefix("test" + stores++)
                .ticker(time)
                .deadline(Duration.ofSeconds(20))
                .denyCache(Duration.ZERO)
                .onStoreFailure(OnStoreFailure.DENY)
                .edition(FakeClock::inScript)
                .build();
        return new FakeClock(store, control, time);
    }
}
