package dev.ratelimit.spring.boot.redis;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;

/** {@code ratelimit.changes.age}: the seconds since this instance last read what operators change. Exists from the start. */
public final class RedisChangesMeters implements AutoCloseable {

    private final MeterRegistry registry;
    private final Gauge age;

    public RedisChangesMeters(MeterRegistry registry, ObjectProvider<RedisChanges> changes) {
        this.registry = registry;
        this.age = Gauge.builder(
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
        registry.remove(age);
    }
}
