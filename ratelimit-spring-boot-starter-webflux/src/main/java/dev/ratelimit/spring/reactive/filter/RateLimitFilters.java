package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.reactive.RouteLimits;
import dev.ratelimit.spring.reactive.endpoint.Endpoints;
import dev.ratelimit.spring.reactive.request.FactsFetcher;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.context.ApplicationContext;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.cors.reactive.CorsConfigurationSource;

/** Creates the filters of the stages, which differ only in their rules. */
public final class RateLimitFilters {

    private final RequestLimiter limiter;
    private final Supplier<Endpoints> endpoints;
    private final FactsFetcher fetcher;
    private final ApplicationContext context;
    private final CorsHeaders cors;
    private final FunctionalLimits routes;

    /**
     * Creates the filters.
     *
     * @param endpoints those of the application, as soon as they are known
     * @param context that of the application
     * @param corsSources asked at the first refusal of a request from another origin
     */
    public RateLimitFilters(
            RequestLimiter limiter,
            Supplier<Endpoints> endpoints,
            FactsFetcher fetcher,
            ApplicationContext context,
            Supplier<List<CorsConfigurationSource>> corsSources) {
        this.limiter = limiter.withoutBlocking();
        this.endpoints = endpoints;
        this.fetcher = fetcher;
        this.context = context;
        List<String> exposed = new ArrayList<>(limiter.headers());
        exposed.addAll(limiter.refusalHeaders());
        this.cors = new CorsHeaders(
                SingletonSupplier.of(corsSources)::obtain,
                exchange -> endpoints.get().writeCorsHeaders(exchange),
                exposed);
        this.routes = new FunctionalLimits((route, policies) -> stage(this.limiter.forRoute(route, policies)));
    }

    /** The CORS headers of refusals. */
    public CorsHeaders cors() {
        return cors;
    }

    /** The limits of functional routes. */
    public RouteLimits routes() {
        return routes;
    }

    /** Whether any functional route has limits. */
    public boolean haveRoutes() {
        return routes.areUsed();
    }

    /** The only filter, without Spring Security. */
    public RateLimitWebFilter ofAllRules(int order) {
        return filter(order, limiter, true);
    }

    /** The filter before Spring Security. */
    public RateLimitWebFilter beforeSecurity(int order) {
        return filter(order, limiter.beforeSecurity(), false);
    }

    /** The filter after Spring Security. */
    public RateLimitWebFilter afterSecurity(int order) {
        return filter(order, limiter.afterSecurity(), true);
    }

    private RateLimitWebFilter filter(int order, RequestLimiter limited, boolean last) {
        return new RateLimitWebFilter(order, stage(limited), last, context);
    }

    private RateLimitStage stage(RequestLimiter limited) {
        return new RateLimitStage(limited, endpoints, fetcher, cors);
    }
}
