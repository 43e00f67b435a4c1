package dev.ratelimit.benchmarks.redis;

import dev.ratelimit.benchmarks.redis.Limits.Quota;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;

/** Bucket4j on Lettuce, as its documentation shows it: one bucket per limit, one after another. */
final class Bucket4jCalls implements Contender {

    private final ProxyManager<String> buckets;
    private final BucketConfiguration global;
    private final BucketConfiguration endpoints;
    private final BucketConfiguration users;

    Bucket4jCalls(RedisClient client, Limits limits) {
        this.buckets = Bucket4jLettuce.casBasedBuilder(
                        client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE)))
                .expirationAfterWrite(
                        ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofSeconds(10)))
                .build();
        this.global = configuration(limits.global());
        this.endpoints = configuration(limits.endpoint());
        this.users = configuration(limits.user());
    }

    private static BucketConfiguration configuration(Quota quota) {
        return BucketConfiguration.builder()
                .addLimit(limit -> limit.capacity(quota.permits()).refillGreedy(quota.permits(), quota.period()))
                .build();
    }

    @Override
    public boolean decide(String endpoint, String user) {
        return tryConsume("global", global)
                && tryConsume("endpoint:" + endpoint, endpoints)
                && tryConsume("user:" + user, users);
    }

    /** Only the bucket of the user: the others are created quickly, and all callers would wait for each other. */
    @Override
    public void touch(String user) {
        tryConsume("user:" + user, users);
    }

    private boolean tryConsume(String key, BucketConfiguration configuration) {
        return buckets.getProxy(key, () -> configuration).tryConsume(1);
    }
}
