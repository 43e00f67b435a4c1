package dev.ratelimit.spring.boot.store;

import dev.ratelimit.remote.RemoteStore;
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

/**
 * Meters of a store on other servers: {@code ratelimit.store.failures} with {@code reason}; and {@code ratelimit.store.state}, 1
 * while the store decides and 0 while a failing server is not used. All exist from the start.
 */
public final class StoreMeters implements StoreObserver, AutoCloseable {

    private final MeterRegistry registry;
    private final Map<StoreFailure.Reason, Counter> failures = new HashMap<>();
    private final List<Meter> gauges = new ArrayList<>();

    /**
     * Creates meters without a store.
     *
     * @param reasons those that only this store has
     */
    public StoreMeters(MeterRegistry registry, StoreFailure.Reason[] reasons) {
        this.registry = registry;
        Stream.of(RemoteStoreFailure.values(), reasons)
                .<StoreFailure.Reason>flatMap(Arrays::stream)
                .forEach(reason -> failures.put(
                        reason,
                        Counter.builder("ratelimit.store.failures")
                                .description("Requests, or parts of requests, that the store did not decide")
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
    public void watch(RemoteStore store) {
        gauges.add(Gauge.builder("ratelimit.store.state", store, watched -> watched.available() ? 1 : 0)
                .description("1: the store decides; 0: at least one server fails and is not used")
                .register(registry));
    }

    /** The registry may outlive the store. */
    @Override
    public void close() {
        gauges.forEach(registry::remove);
    }
}
