package dev.ratelimit.spring.boot.metrics;

import dev.ratelimit.Charge;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.request.RequestContext;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Counts the outcomes of requests: {@code ratelimit.requests} with {@code policy} and {@code outcome}, and times their
 * waits: {@code ratelimit.wait}. An admitted
 * request counts under each policy that applied, a refused one under each policy that refused it. No tag contains data
 * of a request.
 */
public final class MeteredOutcomeCounter implements OutcomeCounter {

    private final MeterRegistry registry;
    private final Ticker ticker;
    private final Map<String, HeldPermitMeters> held = new ConcurrentHashMap<>();
    private final Map<String, Map<OutcomeCounter.Outcome, Counter>> counters = new ConcurrentHashMap<>();

    public MeteredOutcomeCounter(MeterRegistry registry, Ticker ticker) {
        this.registry = registry;
        this.ticker = ticker;
    }

    @Override
    public Runnable held(Charge charge) {
        return held.computeIfAbsent(charge.policy().name(), name -> new HeldPermitMeters(name, registry, ticker))
                .hold(charge.permits(), charge.policy().limits().get(0).replenishNanos());
    }

    @Override
    public void waited(String policy, OutcomeCounter.Outcome outcome, long nanos) {
        Timer.builder("ratelimit.wait")
                .description("How long requests waited for their permits")
                .tag("policy", policy)
                .tag("outcome", outcome.tag())
                .register(registry)
                .record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void count(String policy, @Nullable String key, OutcomeCounter.Outcome outcome, RequestContext request) {
        Map<OutcomeCounter.Outcome, Counter> known = counters.get(policy);
        Counter counter = (known != null ? known : counters.computeIfAbsent(policy, this::counters)).get(outcome);
        if (counter != null) {
            counter.increment();
        }
    }

    private Map<OutcomeCounter.Outcome, Counter> counters(String policy) {
        Map<OutcomeCounter.Outcome, Counter> all = new EnumMap<>(OutcomeCounter.Outcome.class);
        for (OutcomeCounter.Outcome outcome : OutcomeCounter.Outcome.values()) {
            all.put(
                    outcome,
                    Counter.builder("ratelimit.requests")
                            .description("Requests by policy and outcome")
                            .tag("policy", policy)
                            .tag("outcome", outcome.tag())
                            .register(registry));
        }
        return all;
    }
}
