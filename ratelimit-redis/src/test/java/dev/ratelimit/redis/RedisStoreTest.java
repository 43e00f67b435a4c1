package dev.ratelimit.redis;

import dev.ratelimit.Limit;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.RateLimitStoreContract;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The store contract on a real server whose scripts use a fake clock. With the two algorithms that differ most: numbers
 * that refill, and a list of times. {@link LuaMatchesCoreTest} compares all of them, and a full run uses all here, too.
 */
@Tag("servers")
class RedisStoreTest extends RateLimitStoreContract {

    private static final boolean ALL = "all".equals(System.getProperty("algorithms"));

    @Started
    private static RedisServer server;

    private static RedisClient client;
    private static int stores;

    @BeforeAll
    static void createClient() {
        client = server.newClient();
    }

    @Override
    protected Stream<Limit> limits(Rate rate) {
        return ALL ? super.limits(rate) : Stream.of(TokenBucket.of(rate), SlidingLog.of(rate));
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
