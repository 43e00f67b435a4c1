package dev.ratelimit.redis;

import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.RateLimitStoreContract;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The store contract on a real server whose scripts use a fake clock. */
@Tag("servers")
class RedisStoreTest extends RateLimitStoreContract {

    @Started
    private static RedisServer server;

    private static RedisClient client;
    private static int stores;

    @BeforeAll
    static void createClient() {
        client = server.newClient();
    }

    @Override
    protected Duration resolution() {
        return Duration.ofNanos(1000);
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
        return new FakeClock(store, server.commands(), time);
    }
}
