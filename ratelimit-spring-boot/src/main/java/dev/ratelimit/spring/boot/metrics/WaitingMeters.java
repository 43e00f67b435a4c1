package dev.ratelimit.spring.boot.metrics;

import dev.ratelimit.spring.boot.spi.PolicyObserver;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Collection;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;

/** The meter {@code ratelimit.waiting} of each {@code policy} that lets requests wait or holds refusals back. */
public final class WaitingMeters implements PolicyObserver, AutoCloseable {

    private final MeterRegistry registry;
    private final ObjectProvider<WaitingRequests> requests;
    private final MetersByPolicy meters;

    public WaitingMeters(MeterRegistry registry, ObjectProvider<WaitingRequests> requests) {
        this.registry = registry;
        this.requests = requests;
        this.meters = new MetersByPolicy(registry, this::metersOf);
    }

    @Override
    public void watch(Collection<String> policies) {
        meters.watch(policies);
    }

    private List<Meter> metersOf(String policy) {
        WaitingRequests waiting = requests.getIfUnique();
        return waiting == null || !waiting.policies().contains(policy)
                ? List.of()
                : List.of(Gauge.builder("ratelimit.waiting", waiting, all -> (double) all.waiting(policy))
                        .description("Requests that wait for their permits or for their refusal")
                        .tag("policy", policy)
                        .register(registry));
    }

    @Override
    public void close() {
        meters.close();
    }
}
