package dev.ratelimit.spring.boot.redis;

/**
 * Up, or degraded while the store does not use a failing server. Never down: the application follows its policies'
 * on-store-failure, and restarting it would not help.
 *
 * @param status {@code UP}, or one that aggregators do not know, so that it affects neither the overall status nor the
 *     HTTP status
 * @param decides what decides requests
 */
public record RedisStoreHealth(String status, String decides) {

    /** The health of a store that is used or not. */
    public static RedisStoreHealth of(boolean available) {
        return available
                ? new RedisStoreHealth("UP", "Redis")
                : new RedisStoreHealth("DEGRADED", "on-store-failure of each policy, as Redis fails");
    }
}
