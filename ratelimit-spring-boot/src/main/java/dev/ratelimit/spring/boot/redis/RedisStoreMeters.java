package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.RedisStoreFailure;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.StoreFailure;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Meters of the store on Redis: {@code ratelimit.store.failures} with {@code reason}; {@code ratelimit.store.state}, 1 while
 * Redis decides and 0 while a failing server is not used; and {@code ratelimit.changes.age}, the seconds since this instance
 * last read what operators change. All exist from the start.
 */
public final class RedisStoreMeters implements RedisStoreObserver, AutoCloseable {

    private final MeterRegistry registry;
    private final Map<StoreFailure.Reason, Counter> failures = new HashMap<>();
    private final ObjectProvider<RedisChanges> changes;
    private final List<Meter> gauges = new ArrayList<>();

    public RedisStoreMeters(MeterRegistry registry, ObjectProvider<RedisChanges> changes) {
        this.registry = registry;
        this.changes = changes;
        Stream.of(RemoteStoreFailure.values(), RedisStoreFailure.values())
                .<StoreFailure.Reason>flatMap(Arrays::stream)
                .forEach(reason -> failures.put(
                        reason,
                        Counter.builder("ratelimit.store.failures")
                                .description("Requests, or parts of requests, that Redis did not decide")
                                .tag("reason", reason.tag())
                                .register(registry)));
    }

    @Override
    public void failed(StoreFailure.Reason reason) {
        Counter counter = failures.get(reason);
        if (counter != null) {
            counter.increment();
        }
    }

    @Override
    public void watch(RedisStore store) {
        gauges.add(Gauge.builder("ratelimit.store.state", store, watched -> watched.available() ? 1 : 0)
                .description("1: Redis decides; 0: at least one server fails and is not used")
                .register(registry));
        gauges.add(Gauge.builder(
                        "ratelimit.changes.age",
                        changes,
                        read -> read.getObject().secondsSinceRead())
                .description("The time since this instance last read what operators change")
                .baseUnit("seconds")
                .register(registry));
    }

    /** The registry may outlive the store. */
    @Override
    public void close() {
        gauges.forEach(registry::remove);
    }
}
