package dev.ratelimit.redis;

import static dev.ratelimit.redis.RedisLimit.periodMicros;

import dev.ratelimit.Limit;
import dev.ratelimit.Penalty;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.IntervalTokenBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.Script.Algorithm;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** The registry of the algorithms that have a Lua script. */
final class RedisLimits {

    private static final Map<Class<? extends Limit>, Function<Limit, RedisLimit>> FACTORIES = new HashMap<>();

    static {
        register(TokenBucket.class, RedisTokenBucket::of);
        register(
                IntervalTokenBucket.class,
                limit -> new RedisState(
                        limit, Algorithm.TOKEN_BUCKET_INTERVAL, limit.rate().permits(), periodMicros(limit)));
        register(FixedWindow.class, RedisFixedWindow::of);
        register(
                SlidingWindow.class,
                limit -> new RedisState(
                        limit,
                        Algorithm.SLIDING_WINDOW,
                        periodMicros(limit),
                        limit.rounding() == Rounding.FLOOR ? 1 : 0));
        register(SlidingLog.class, RedisSlidingLog::of);
        register(Penalty.class, RedisPenalty::of);
        register(Concurrency.class, RedisSlidingLog::of);
    }

    private RedisLimits() {}

    private static <L extends Limit> void register(Class<L> type, Function<L, RedisLimit> factory) {
        FACTORIES.put(type, limit -> factory.apply(type.cast(limit)));
    }

    /**
     * Returns the limit as the scripts see it.
     *
     * @throws IllegalArgumentException if Redis cannot keep it exactly; the message says why
     */
    static RedisLimit of(Limit limit) {
        if (limit.capacity() > RedisLimit.MAX || limit.replenishNanos() / 1000 > RedisLimit.MAX) {
            throw new IllegalArgumentException(limit + " is too large for Redis: the maximum is " + RedisLimit.MAX
                    + " permits and " + RedisLimit.MAX + " microseconds");
        }
        Function<Limit, RedisLimit> factory = FACTORIES.get(limit.getClass());
        if (factory == null) {
            throw new IllegalArgumentException(
                    limit.getClass().getName() + " is not supported on Redis: it has no Lua script");
        }
        return factory.apply(limit);
    }
}
