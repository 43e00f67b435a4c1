package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.remote.RemoteStore;
import dev.ratelimit.spring.boot.store.StoreObserver;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;

/** {@code ratelimit.changes.age}: the seconds since this instance last read what operators change. Exists with the store. */
public final class RedisChangesMeters implements StoreObserver, AutoCloseable {

    private final MeterRegistry registry;

    /** Held here, because a gauge does not keep what it reads. */
    private final ObjectProvider<RedisChanges> changes;

    private @Nullable Gauge age;

    public RedisChangesMeters(MeterRegistry registry, ObjectProvider<RedisChanges> changes) {
        this.registry = registry;
        this.changes = changes;
    }

    @Override
    public void watch(RemoteStore store) {
        age = Gauge.builder(
                        "ratelimit.changes.age",
                        changes,
                        read -> read.getObject().secondsSinceRead())
                .description("The time since this instance last read what operators change")
                .baseUnit("seconds")
                .register(registry);
    }

    /** The registry may outlive the store. */
    @Override
    public void close() {
        if (age != null) {
            registry.remove(age);
        }
    }
}
