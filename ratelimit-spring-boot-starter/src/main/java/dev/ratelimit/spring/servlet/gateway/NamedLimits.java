package dev.ratelimit.spring.servlet.gateway;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.servlet.filter.RateLimitFilters;
import dev.ratelimit.spring.servlet.filter.RouteLimit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Finds the limits of policies that routes name. Thread-safe. */
public final class NamedLimits {

    private final BooleanSupplier enabled;
    private final Supplier<@Nullable RateLimitFilters> filters;

    private final Map<Named, RouteLimit> known = new ConcurrentHashMap<>();

    /** The ids of the configuration's routes; guarded by this. */
    private Set<String> configured = Set.of();

    /** What a route names. */
    private record Named(String route, List<String> policies) {}

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
     * @param route the id of a route that names them
     * @return {@code null} while limits are off
     * @throws RateLimitConfigurationException if there is no such policy
     */
    @Nullable
    RouteLimit of(String route, List<String> policies) {
        if (!enabled.getAsBoolean()) {
            return null;
        }
        Named named = new Named(route, policies);
        RouteLimit limit = known.get(named);
        return limit == null ? create(named) : limit;
    }

    private synchronized RouteLimit create(Named named) {
        RouteLimit limit = known.get(named);
        if (limit == null) {
            RateLimitFilters found = filters.get();
            if (found == null) {
                throw new RateLimitConfigurationException(
                        "route " + named.route,
                        named.policies.toString(),
                        "it names a policy, but there is none; write it under ratelimit.policies");
            }
            limit = found.ofRoute(named.route, named.policies);
            known.put(named, limit);
        }
        return limit;
    }

    /**
     * Replaces the routes of the configuration; those in Java stay.
     *
     * @param routes the policies that exist and that a route names, by its id
     */
    synchronized void replaceConfigured(Map<String, Set<String>> routes) {
        RateLimitFilters found = filters.get();
        if (found != null) {
            known.keySet().removeIf(named -> configured.contains(named.route));
            configured = Set.copyOf(routes.keySet());
            Map<String, Set<String>> all = new HashMap<>();
            routes.forEach((route, policies) -> all.put(route, new TreeSet<>(policies)));
            known.keySet()
                    .forEach(named -> all.computeIfAbsent(named.route, any -> new TreeSet<>())
                            .addAll(named.policies));
            found.replaceRoutes(all);
        }
    }
}
