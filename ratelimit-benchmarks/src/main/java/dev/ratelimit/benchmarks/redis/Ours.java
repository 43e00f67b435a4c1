package dev.ratelimit.benchmarks.redis;

import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.benchmarks.redis.Limits.Quota;
import dev.ratelimit.lease.LeasingStore;
import dev.ratelimit.redis.RedisStore;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.List;

/**
 * This library: three policies in one decision, all or nothing, with a full result. Without Redis, it would decide
 * locally; here, a decision without Redis fails the run.
 */
final class Ours implements Contender {

    private final RateLimitStore store;
    private final Policy global;
    private final Policy endpoints;
    private final Policy users;

    private Ours(RateLimitStore store, Limits limits) {
        this.store = store;
        this.global = policy("global", limits.global());
        this.endpoints = policy("endpoint", limits.endpoint());
        this.users = policy("user", limits.user());
    }

    /** Asks Redis each time. */
    static Ours exact(RedisClient client, Limits limits) {
        return new Ours(store(client), limits);
    }

    /** Takes leases of frequently used keys. */
    static Ours leased(RedisClient client, Limits limits) {
        return new Ours(
                new LeasingStore(
                        store(client),
                        0.1,
                        Duration.ofSeconds(1),
                        RedisStore::decidedByRedis,
                        Ticker.system(),
                        Scheduler.system()),
                limits);
    }

    private static RedisStore store(RedisClient client) {
        return RedisStore.builder(client)
                .deadline(Duration.ofSeconds(10))
                .onStoreFailure(OnStoreFailure.DENY)
                .build();
    }

    private static Policy policy(String name, Quota quota) {
        return Policy.of(name, TokenBucket.of(Rate.of(quota.permits(), quota.period())));
    }

    @Override
    public boolean decide(String endpoint, String user) {
        return store.decide(List.of(global.charge(), endpoints.charge(endpoint), users.charge(user)))
                .admitted();
    }
}
