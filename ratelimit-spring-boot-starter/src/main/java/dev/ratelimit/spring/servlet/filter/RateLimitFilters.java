package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.cors.CorsConfigurationSource;

/** Creates the filters of the stages, which differ only in their rules. */
public final class RateLimitFilters {

    private static final String NAME = RateLimitFilter.class.getName();

    private final RequestLimiter limiter;
    private final ServletPaths paths;
    private final CorsHeaders cors;

    /**
     * Creates the filters.
     *
     * @param corsSources asked at the first refusal of a request from another origin
     */
    public RateLimitFilters(
            RequestLimiter limiter, ServletPaths paths, Supplier<List<CorsConfigurationSource>> corsSources) {
        this.limiter = limiter;
        this.paths = paths;
        List<String> exposed = new ArrayList<>(limiter.headers());
        exposed.addAll(limiter.refusalHeaders());
        this.cors = new CorsHeaders(SingletonSupplier.of(corsSources)::obtain, exposed);
    }

    /** What answers refused calls outside of these filters, which see only the dispatch of the request itself. */
    ThrownRefusals thrownRefusals() {
        return new ThrownRefusals(limiter.calls(), paths, cors);
    }

    public RateLimitFilter ofAllRules() {
        return new RateLimitFilter(NAME, limiter, paths, cors);
    }

    public RateLimitFilter beforeSecurity() {
        return new RateLimitFilter(NAME + ".beforeSecurity", limiter.beforeSecurity(), paths, cors);
    }

    public RateLimitFilter afterSecurity() {
        return new RateLimitFilter(NAME + ".afterSecurity", limiter.afterSecurity(), paths, cors);
    }

    /**
     * The limit of a route that names policies.
     *
     * @param route its id
     * @throws dev.ratelimit.spring.RateLimitConfigurationException if there is no such policy
     */
    public RouteLimit ofRoute(String route, List<String> policies) {
        return new RouteLimit(limiter.forRoute(route, policies), paths, cors);
    }

    /** Replaces the routes by others, with the policies that each of them names. */
    public void replaceRoutes(Map<String, Set<String>> now) {
        limiter.replaceRoutes(now);
    }
}
