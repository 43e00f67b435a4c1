package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.RedisStoreListener;

/** Receives the failures of the store on Redis, and can inspect the store. */
public interface RedisStoreObserver extends RedisStoreListener {

    /** Sets the store to observe. */
    void watch(RedisStore store);
}
