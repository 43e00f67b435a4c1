package dev.ratelimit.spring.boot.metrics;

import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.RequestContext;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts the outcomes of requests as {@link MeteredOutcomeCounter} does, by endpoint as well:
 * {@code ratelimit.endpoint.requests} with {@code policy}, {@code outcome} and {@code endpoint}, such as
 * {@code GET /orders/{id}}. The first endpoints to be requested are counted separately, up to a maximum, and all others as
 * {@code other}. No request can add an endpoint that the application does not have. Thread-safe.
 */
public final class EndpointMeters implements OutcomeCounter {

    /** Stands for all endpoints beyond the maximum. */
    static final String OTHER = "other";

    private final MeterRegistry registry;
    private final int maxEndpoints;
    private final Map<String, OfEndpoint> endpoints = new ConcurrentHashMap<>();
    private final OfEndpoint other = new OfEndpoint(OTHER);

    /** Counts this many endpoints separately, at least 1. */
    public EndpointMeters(MeterRegistry registry, int maxEndpoints) {
        this.registry = registry;
        this.maxEndpoints = maxEndpoints;
    }

    /** The counters of one endpoint, or of all others. */
    private final class OfEndpoint {

        private final String name;
        private final Map<String, Map<Outcome, Counter>> counters = new ConcurrentHashMap<>();

        OfEndpoint(String name) {
            this.name = name;
        }

        void count(String policy, Outcome outcome) {
            Map<Outcome, Counter> ofPolicy = counters.get(policy);
            Counter counter = ofPolicy == null ? null : ofPolicy.get(outcome);
            (counter != null ? counter : add(policy, outcome)).increment();
        }

        private Counter add(String policy, Outcome outcome) {
            return counters.computeIfAbsent(policy, none -> new ConcurrentHashMap<>())
                    .computeIfAbsent(
                            outcome,
                            none -> Counter.builder("ratelimit.endpoint.requests")
                                    .description("Requests by policy, outcome and endpoint")
                                    .tag("policy", policy)
                                    .tag("outcome", outcome.tag())
                                    .tag("endpoint", name)
                                    .register(registry));
        }
    }

    @Override
    public boolean readsEndpoints() {
        return true;
    }

    @Override
    public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
        Endpoint endpoint = request.knownEndpoint();
        if (endpoint != null) {
            of(endpoint.id()).count(policy, outcome);
        }
    }

    private OfEndpoint of(String endpoint) {
        OfEndpoint known = endpoints.get(endpoint);
        return known != null ? known : endpoints.size() < maxEndpoints ? add(endpoint) : other;
    }

    private synchronized OfEndpoint add(String endpoint) {
        return endpoints.size() < maxEndpoints
                ? endpoints.computeIfAbsent(endpoint, OfEndpoint::new)
                : endpoints.getOrDefault(endpoint, other);
    }
}
