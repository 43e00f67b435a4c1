package dev.ratelimit.spring.boot.metrics;

import dev.ratelimit.spring.boot.spi.PolicyObserver;
import dev.ratelimit.spring.rules.operation.LiveChanges;
import dev.ratelimit.spring.rules.operation.RefreshedConfiguration;
import dev.ratelimit.spring.rules.override.KeyOverrides;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Meters of what differs from the configuration: {@code ratelimit.changed}, 1 for each {@code policy} that an operator
 * has changed, {@code ratelimit.overrides}, how many of its keys have an override by an operator, and
 * {@code ratelimit.configuration.refused}, 1 while a changed configuration is not applied.
 */
public final class ChangeMeters implements PolicyObserver, AutoCloseable {

    private final MeterRegistry registry;
    private final ObjectProvider<LiveChanges> changes;
    private final ObjectProvider<KeyOverrides> overrides;
    private final ObjectProvider<RefreshedConfiguration> configuration;
    private final MetersByPolicy meters;
    private @Nullable Meter refused;

    public ChangeMeters(
            MeterRegistry registry,
            ObjectProvider<LiveChanges> changes,
            ObjectProvider<KeyOverrides> overrides,
            ObjectProvider<RefreshedConfiguration> configuration) {
        this.registry = registry;
        this.changes = changes;
        this.overrides = overrides;
        this.configuration = configuration;
        this.meters = new MetersByPolicy(registry, this::metersOf);
    }

    @Override
    public void watch(Collection<String> policies) {
        meters.watch(policies);
        if (refused == null) {
            refused = Gauge.builder(
                            "ratelimit.configuration.refused",
                            configuration,
                            read -> read.getObject().refused() == null ? 0 : 1)
                    .description("1: the changed configuration is not applied, because of a mistake in it")
                    .register(registry);
        }
    }

    private List<Meter> metersOf(String policy) {
        return List.of(
                Gauge.builder(
                                "ratelimit.changed",
                                changes,
                                all -> all.getObject().isChanged(policy) ? 1 : 0)
                        .description("1: operators have changed the policy, so it is not as configured")
                        .tag("policy", policy)
                        .register(registry),
                Gauge.builder(
                                "ratelimit.overrides",
                                overrides,
                                all -> all.getObject().count(policy))
                        .description("The keys whose limits an operator has overridden")
                        .tag("policy", policy)
                        .register(registry));
    }

    /** The registry may outlive the policies. */
    @Override
    public void close() {
        meters.close();
        if (refused != null) {
            registry.remove(refused);
        }
    }
}
