package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.redis.RedisStore;

/** Is told of the failures of the store on Redis, and can look at it. */
interface RedisStoreObserver extends RedisStore.Listener {

    /** This is the store. */
    void watch(RedisStore store);
}
