package dev.ratelimit.redis;

import dev.ratelimit.Limit;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.RateLimitStoreContract;
import java.time.Duration;
import java.util.stream.Stream;

/**
 * The store contract on real servers whose scripts use a fake clock. With the two algorithms that differ most: numbers
 * that refill, and a list of times. {@link LuaMatchesCoreTest} compares all of them, and at night all are used here, too.
 */
abstract class RedisStoreContract extends RateLimitStoreContract {

    private static int stores;

    @Override
    protected Stream<Limit> limits(Rate rate) {
        return Boolean.getBoolean("nightly")
                ? super.limits(rate)
                : Stream.of(TokenBucket.of(rate), SlidingLog.of(rate));
    }

    @Override
    protected Duration resolution() {
        return Duration.ofNanos(1000);
    }

    /** Builds a store that goes by a fake clock, and fails only if its server does. */
    static RedisStore build(RedisStoreBuilder builder, FakeTicker time) {
        return builder.prefix("test" + stores++)
                .ticker(time)
                .deadline(Duration.ofSeconds(20))
                .denyCache(Duration.ZERO)
                .onStoreFailure(OnStoreFailure.DENY)
                .edition(FakeClock::inScript)
                .build();
    }
}
