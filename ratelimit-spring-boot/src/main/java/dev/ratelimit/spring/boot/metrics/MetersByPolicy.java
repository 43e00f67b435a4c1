package dev.ratelimit.spring.boot.metrics;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** The meters of the policies that there are at the moment. Thread-safe. */
final class MetersByPolicy implements AutoCloseable {

    private final MeterRegistry registry;
    private final Function<String, List<Meter>> register;
    private final Map<String, List<Meter>> meters = new HashMap<>();

    /**
     * Creates an object without meters.
     *
     * @param register registers the meters of one policy
     */
    MetersByPolicy(MeterRegistry registry, Function<String, List<Meter>> register) {
        this.registry = registry;
        this.register = register;
    }

    /** Registers the meters of new policies, and removes those of policies that no longer exist. */
    synchronized void watch(Collection<String> policies) {
        for (String gone : Set.copyOf(meters.keySet())) {
            if (!policies.contains(gone)) {
                meters.getOrDefault(gone, List.of()).forEach(registry::remove);
                meters.remove(gone);
            }
        }
        policies.forEach(policy -> meters.computeIfAbsent(policy, register));
    }

    /** Removes all, as the registry may outlive what they measure. */
    @Override
    public void close() {
        watch(List.of());
    }
}
