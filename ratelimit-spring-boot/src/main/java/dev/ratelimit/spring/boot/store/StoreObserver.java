package dev.ratelimit.spring.boot.store;

import dev.ratelimit.remote.RemoteStore;
import dev.ratelimit.remote.RemoteStoreListener;
import dev.ratelimit.remote.StoreFailure;
import java.util.List;

/** Receives the failures of a store on other servers, and can inspect the store. */
public interface StoreObserver extends RemoteStoreListener {

    /** Sets the store to observe. */
    void watch(RemoteStore store);

    /** An observer that passes everything on to all of these. */
    static StoreObserver of(List<StoreObserver> observers) {
        return new StoreObserver() {
            @Override
            public void watch(RemoteStore store) {
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
