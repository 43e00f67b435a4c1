package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.web.Outcome;
import dev.ratelimit.spring.web.Outcomes;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts what becomes of requests: {@code ratelimit.requests} with {@code policy} and {@code outcome}. A request that is
 * admitted counts under each policy that applied, one that is refused under each policy that refused it. No tag comes from a
 * request.
 */
final class MeteredOutcomes implements Outcomes {

    private final MeterRegistry registry;
    private final Map<String, Map<Outcome, Counter>> counters = new ConcurrentHashMap<>();

    MeteredOutcomes(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void count(String policy, Outcome outcome) {
        Map<Outcome, Counter> known = counters.get(policy);
        Counter counter = (known != null ? known : counters.computeIfAbsent(policy, this::counters)).get(outcome);
        if (counter != null) {
            counter.increment();
        }
    }

    private Map<Outcome, Counter> counters(String policy) {
        Map<Outcome, Counter> all = new EnumMap<>(Outcome.class);
        for (Outcome outcome : Outcome.values()) {
            all.put(
                    outcome,
                    Counter.builder("ratelimit.requests")
                            .description("Requests by the policies that applied to them, and what became of them")
                            .tag("policy", policy)
                            .tag("outcome", outcome.tag())
                            .register(registry));
        }
        return all;
    }
}
