package dev.ratelimit.spring.boot.metrics;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.boot.spi.PolicyObserver;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Meters of the store in memory, by {@code policy}: {@code ratelimit.keys}, {@code ratelimit.keys.added}, the number of
 * keys that were new, which invented ones raise, {@code ratelimit.memory} in bytes, and
 * {@code ratelimit.evictions} with {@code state}: {@code full} if nothing was charged, {@code active} if permits were
 * charged and the table needed room.
 */
public final class MemoryStoreMeters implements PolicyObserver, AutoCloseable {

    private final MeterRegistry registry;
    private final ObjectProvider<InMemoryStore> stores;
    private final MetersByPolicy meters;

    public MemoryStoreMeters(MeterRegistry registry, ObjectProvider<InMemoryStore> stores) {
        this.registry = registry;
        this.stores = stores;
        this.meters = new MetersByPolicy(registry, this::metersOf);
    }

    @Override
    public void watch(Collection<String> policies) {
        meters.watch(policies);
    }

    private List<Meter> metersOf(String policy) {
        InMemoryStore store = stores.getIfUnique();
        return store == null ? List.of() : metersOf(store, policy);
    }

    private List<Meter> metersOf(InMemoryStore store, String policy) {
        return List.of(
                Gauge.builder("ratelimit.keys", store, memory -> (double) memory.keys(policy))
                        .description("Keys in memory, over all limits of the policy")
                        .tag("policy", policy)
                        .register(registry),
                Gauge.builder("ratelimit.memory", store, memory -> (double) memory.bytes(policy))
                        .description("Memory used by the tables of the policy")
                        .baseUnit("bytes")
                        .tag("policy", policy)
                        .register(registry),
                added(store, policy),
                evictions(store, policy, "full", InMemoryStore::evictedFull),
                evictions(store, policy, "active", InMemoryStore::evictedActive));
    }

    /**
     * Every key that was added is still there or was evicted, so no request counts it. Never falls: a key that is just added
     * or evicted may be missing in one of the numbers, or be in two of them.
     */
    private Meter added(InMemoryStore store, String policy) {
        AtomicLong last = new AtomicLong();
        return FunctionCounter.builder("ratelimit.keys.added", store, memory -> {
                    long now = memory.keys(policy) + memory.evictedFull(policy) + memory.evictedActive(policy);
                    return (double) last.accumulateAndGet(now, Math::max);
                })
                .description("Keys that were new, over all limits of the policy")
                .tag("policy", policy)
                .register(registry);
    }

    @FunctionalInterface
    private interface Count {
        long of(InMemoryStore store, String policy);
    }

    private Meter evictions(InMemoryStore store, String policy, String state, Count count) {
        return FunctionCounter.builder("ratelimit.evictions", store, memory -> (double) count.of(memory, policy))
                .description("Evicted keys; active ones had permits charged, full ones did not")
                .tag("policy", policy)
                .tag("state", state)
                .register(registry);
    }

    @Override
    public void close() {
        meters.close();
    }
}
