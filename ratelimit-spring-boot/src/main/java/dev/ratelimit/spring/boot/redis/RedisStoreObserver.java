package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.RedisStoreFailure;
import dev.ratelimit.redis.RedisStoreListener;
import java.util.List;

/** Receives the failures of the store on Redis, and can inspect the store. */
public interface RedisStoreObserver extends RedisStoreListener {

    /** Sets the store to observe. */
    void watch(RedisStore store);

    /** An observer that passes everything on to all of these. */
    static RedisStoreObserver of(List<RedisStoreObserver> observers) {
        return new RedisStoreObserver() {
            @Override
            public void watch(RedisStore store) {
                observers.forEach(observer -> observer.watch(store));
            }

            @Override
            public void failed(RedisStoreFailure reason) {
                observers.forEach(observer -> observer.failed(reason));
            }

            @Override
            public void changed() {
                observers.forEach(RedisStoreListener::changed);
            }
        };
    }
}
