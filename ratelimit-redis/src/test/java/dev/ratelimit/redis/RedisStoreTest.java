package dev.ratelimit.redis;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.test.FakeTicker;
import io.lettuce.core.RedisClient;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The store contract on one server. */
@Tag("servers")
class RedisStoreTest extends RedisStoreContract {

    @Started
    private static RedisServer server;

    private static RedisClient client;

    @BeforeAll
    static void createClient() {
        client = server.newClient();
    }

    @Override
    protected RateLimitStore newStore(FakeTicker time) {
        return new FakeClock(build(RedisStore.builder(client), time), server.commands(), time);
    }
}
