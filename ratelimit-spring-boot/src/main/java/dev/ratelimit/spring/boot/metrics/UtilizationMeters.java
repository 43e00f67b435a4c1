package dev.ratelimit.spring.boot.metrics;

import dev.ratelimit.spring.boot.spi.PolicyObserver;
import dev.ratelimit.spring.rules.operation.RateLimitOperations;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Collection;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;

/**
 * The meter {@code ratelimit.utilization} of each {@code policy}: the used part of the limit of its fullest key, 0 to 1, at
 * most in the current and the previous minute.
 */
public final class UtilizationMeters implements PolicyObserver, AutoCloseable {

    private final MeterRegistry registry;
    private final ObjectProvider<RateLimitOperations> operations;
    private final MetersByPolicy meters;
    private final boolean recorded;

    /** Registers nothing unless it is {@code recorded}. */
    public UtilizationMeters(MeterRegistry registry, ObjectProvider<RateLimitOperations> operations, boolean recorded) {
        this.registry = registry;
        this.operations = operations;
        this.recorded = recorded;
        this.meters = new MetersByPolicy(registry, this::metersOf);
    }

    @Override
    public void watch(Collection<String> policies) {
        if (recorded) {
            meters.watch(policies);
        }
    }

    private List<Meter> metersOf(String policy) {
        return List.of(Gauge.builder(
                        "ratelimit.utilization",
                        operations,
                        all -> all.getObject().observations().utilization(policy))
                .description("The used part of the limit of the fullest key in the last one or two minutes")
                .tag("policy", policy)
                .register(registry));
    }

    @Override
    public void close() {
        meters.close();
    }
}
