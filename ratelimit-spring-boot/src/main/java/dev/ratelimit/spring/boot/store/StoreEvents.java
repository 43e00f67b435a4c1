package dev.ratelimit.spring.boot.store;

import dev.ratelimit.remote.RemoteStore;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.StoreFailure;
import dev.ratelimit.spring.RateLimitStoreEvent;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Publishes an event when a store on other servers no longer decides, and when it decides again. Thread-safe. */
public final class StoreEvents implements StoreObserver {

    private final Consumer<Object> events;

    private volatile StoreFailure.@Nullable Reason lastFailure;

    private BooleanSupplier available = () -> true;
    private boolean wasAvailable = true;

    /** Publishes to this, which must return quickly. */
    public StoreEvents(Consumer<Object> events) {
        this.events = events;
    }

    @Override
    public void watch(RemoteStore store) {
        watch(store::available);
    }

    synchronized void watch(BooleanSupplier state) {
        available = state;
        changed();
    }

    @Override
    public void failed(StoreFailure.Reason reason) {
        // that it is not asked any more is not why
        if (reason != RemoteStoreFailure.OPEN) {
            lastFailure = reason;
        }
    }

    /** One server of several may have changed, without a change of the whole. */
    @Override
    public synchronized void changed() {
        boolean now = available.getAsBoolean();
        if (now != wasAvailable) {
            wasAvailable = now;
            StoreFailure.Reason reason = lastFailure;
            events.accept(new RateLimitStoreEvent(now, now || reason == null ? null : reason.tag()));
        }
    }
}
