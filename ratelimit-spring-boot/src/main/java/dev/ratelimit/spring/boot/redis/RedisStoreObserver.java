package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.remote.RemoteStoreListener;
import dev.ratelimit.remote.StoreFailure;
import java.util.List;

/** Receives the failures of the store on Redis, and can inspect the store. */
public interface RedisStoreObserver extends RemoteStoreListener {

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
            public void failed(StoreFailure.Reason reason) {
                observers.forEach(observer -> observer.failed(reason));
            }

            @Override
            public void changed() {
                observers.forEach(RemoteStoreListener::changed);
            }
        };
    }
}
