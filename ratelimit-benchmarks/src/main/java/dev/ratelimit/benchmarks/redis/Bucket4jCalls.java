package dev.ratelimit.benchmarks.redis;

import dev.ratelimit.benchmarks.redis.Limits.Quota;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.distributed.proxy.optimization.Optimizations;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Bucket4j on Lettuce, as its documentation shows it: one bucket per limit, one after another. Batched, callers of this
 * instance that wait for one bucket share its commands: the shared buckets are kept, as that requires.
 */
final class Bucket4jCalls implements Contender {

    private final ProxyManager<String> buckets;
    private final BucketConfiguration global;
    private final BucketConfiguration endpoints;
    private final BucketConfiguration users;
    private final Map<String, Bucket> kept = new ConcurrentHashMap<>();
    private final boolean batched;

    Bucket4jCalls(RedisClient client, Limits limits) {
        this(client, limits, false);
    }

    private Bucket4jCalls(RedisClient client, Limits limits, boolean batched) {
        this.batched = batched;
        this.buckets = Bucket4jLettuce.casBasedBuilder(
                        client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE)))
                .expirationAfterWrite(
                        ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofSeconds(10)))
                .build();
        this.global = configuration(limits.global());
        this.endpoints = configuration(limits.endpoint());
        this.users = configuration(limits.user());
    }

    /** With the optimization for buckets that many threads share. */
    static Bucket4jCalls batched(RedisClient client, Limits limits) {
        return new Bucket4jCalls(client, limits, true);
    }

    private static BucketConfiguration configuration(Quota quota) {
        return BucketConfiguration.builder()
                .addLimit(limit -> limit.capacity(quota.permits()).refillGreedy(quota.permits(), quota.period()))
                .build();
    }

    @Override
    public boolean decide(String endpoint, String user) {
        return tryConsumeShared("global", global)
                && tryConsumeShared("endpoint:" + endpoint, endpoints)
                && tryConsume("user:" + user, users);
    }

    /** Only the bucket of the user: the others are created quickly, and all callers would wait for each other. */
    @Override
    public void touch(String user) {
        tryConsume("user:" + user, users);
    }

    private boolean tryConsumeShared(String key, BucketConfiguration configuration) {
        if (!batched) {
            return tryConsume(key, configuration);
        }
        return kept.computeIfAbsent(
                        key,
                        shared -> buckets.builder()
                                .withOptimization(Optimizations.batching())
                                .build(shared, () -> configuration))
                .tryConsume(1);
    }

    private boolean tryConsume(String key, BucketConfiguration configuration) {
        return buckets.getProxy(key, () -> configuration).tryConsume(1);
    }
}
