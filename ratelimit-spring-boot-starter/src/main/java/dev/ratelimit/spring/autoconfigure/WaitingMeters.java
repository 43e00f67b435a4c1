package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.rules.WaitingRequests;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;

/** The meter {@code ratelimit.waiting} of each {@code policy} that lets requests wait or holds refusals back. */
final class WaitingMeters implements PolicyObserver, AutoCloseable {

    private final MeterRegistry registry;
    private final ObjectProvider<WaitingRequests> requests;
    private final List<Meter> meters = new ArrayList<>();

    WaitingMeters(MeterRegistry registry, ObjectProvider<WaitingRequests> requests) {
        this.registry = registry;
        this.requests = requests;
    }

    @Override
    public void watch(Collection<String> policies) {
        requests.ifUnique(waiting -> waiting.policies()
                .forEach(policy ->
                        meters.add(Gauge.builder("ratelimit.waiting", waiting, all -> (double) all.waiting(policy))
                                .description("Requests that wait for their permits or for their refusal")
                                .tag("policy", policy)
                                .register(registry))));
    }

    /** The registry may outlive the requests. */
    @Override
    public void close() {
        meters.forEach(registry::remove);
    }
}
