package dev.ratelimit.spring.reactive.gateway;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.reactive.filter.RateLimitFilters;
import dev.ratelimit.spring.reactive.filter.RouteLimit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Finds the limits of policies that routes name. Thread-safe. */
public final class NamedLimits {

    private final BooleanSupplier enabled;
    private final Supplier<@Nullable RateLimitFilters> filters;

    /**
     * Finds limits.
     *
     * @param enabled whether anything is limited
     * @param filters those of the application; {@code null} if there is no policy
     */
    public NamedLimits(BooleanSupplier enabled, Supplier<@Nullable RateLimitFilters> filters) {
        this.enabled = enabled;
        this.filters = filters;
    }

    /**
     * The limit of these policies.
     *
     * @param route its id
     * @return {@code null} while limits are off
     * @throws RateLimitConfigurationException if there is no such policy
     */
    @Nullable
    RouteLimit ofRoute(String route, List<String> policies) {
        return enabled.getAsBoolean() ? filters(route, policies.toString()).ofRoute(route, policies) : null;
    }

    /** Replaces the routes by others. */
    void replaceRoutes(Map<String, Set<String>> named) {
        RateLimitFilters known = filters.get();
        if (known != null) {
            known.replaceRoutes(named);
        }
    }

    private RateLimitFilters filters(String route, String written) {
        RateLimitFilters known = filters.get();
        if (known == null) {
            throw new RateLimitConfigurationException(
                    "route " + route,
                    written,
                    "it names a policy, but there is none; write it under ratelimit.policies");
        }
        return known;
    }
}
