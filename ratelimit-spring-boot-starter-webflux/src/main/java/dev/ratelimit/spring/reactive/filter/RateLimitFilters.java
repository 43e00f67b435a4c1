package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.reactive.RouteLimits;
import dev.ratelimit.spring.reactive.endpoint.Endpoints;
import dev.ratelimit.spring.reactive.request.FactsFetcher;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.recording.RequestRecording;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
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
    private final @Nullable RequestRecording recording;

    /**
     * Creates the filters.
     *
     * @param endpoints those of the application, as soon as they are known
     * @param context that of the application
     * @param corsSources asked at the first refusal of a request from another origin
     * @param recording of requests; {@code null} if they are not recorded
     */
    public RateLimitFilters(
            RequestLimiter limiter,
            Supplier<Endpoints> endpoints,
            FactsFetcher fetcher,
            ApplicationContext context,
            Supplier<List<CorsConfigurationSource>> corsSources,
            @Nullable RequestRecording recording) {
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
        this.routes = new FunctionalLimits(this::ofRoute);
        this.recording = recording;
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
        return !routes.named().isEmpty();
    }

    /**
     * The limit of a route that names policies.
     *
     * @param route its id
     * @throws dev.ratelimit.spring.RateLimitConfigurationException if there is no such policy
     */
    public RouteLimit ofRoute(String route, List<String> policies) {
        return new RouteLimit(stage(limiter.forRoute(route, policies)));
    }

    /** Replaces all routes that are not functional by these, with the policies that they name. */
    public void replaceRoutes(Map<String, Set<String>> now) {
        Map<String, Set<String>> all = new HashMap<>(now);
        if (haveRoutes()) {
            all.put(FunctionalLimits.ROUTE, Set.copyOf(routes.named()));
        }
        limiter.replaceRoutes(all);
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
        return new RateLimitWebFilter(order, stage(limited), last, context, recording);
    }

    private RateLimitStage stage(RequestLimiter limited) {
        return new RateLimitStage(limited, endpoints, fetcher, cors);
    }
}
