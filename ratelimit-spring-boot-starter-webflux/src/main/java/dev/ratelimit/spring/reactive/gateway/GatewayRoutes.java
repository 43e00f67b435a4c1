package dev.ratelimit.spring.reactive.gateway;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.reactive.request.RouteFinder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.event.RefreshRoutesResultEvent;
import org.springframework.cloud.gateway.filter.FilterDefinition;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.OrderedGatewayFilter;
import org.springframework.cloud.gateway.filter.factory.GatewayFilterFactory;
import org.springframework.cloud.gateway.handler.RoutePredicateHandlerMapping;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.route.RouteDefinition;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.context.ApplicationListener;
import org.springframework.web.server.ServerWebExchange;

/**
 * Checks the policies that the configuration's routes name at the start, because the gateway only logs that it cannot
 * create them; later, knows which policies the routes in force name, so that no change takes these away.
 */
public final class GatewayRoutes
        implements SmartInitializingSingleton, ApplicationListener<RefreshRoutesResultEvent>, RouteFinder {

    /** Predicates of the application may wait for something. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** What the gateway replaces by beans. */
    private static final String EXPRESSION = "#{";

    private final NamedLimits limits;
    private final Supplier<List<GatewayFilterFactory<?>>> factories;
    private final Supplier<@Nullable GatewayProperties> properties;
    private final Supplier<@Nullable RoutePredicateHandlerMapping> mapping;

    /**
     * Watches the routes.
     *
     * @param factories of all filters, in the order of the gateway
     * @param properties of the gateway; {@code null} if it is off
     * @param mapping finds routes; {@code null} if the gateway is off
     */
    public GatewayRoutes(
            NamedLimits limits,
            Supplier<List<GatewayFilterFactory<?>>> factories,
            Supplier<@Nullable GatewayProperties> properties,
            Supplier<@Nullable RoutePredicateHandlerMapping> mapping) {
        this.limits = limits;
        this.factories = factories;
        this.properties = properties;
        this.mapping = mapping;
    }

    /**
     * Checks the routes of the configuration.
     *
     * @throws RateLimitConfigurationException at the first that names a policy which does not exist or does not fit
     */
    @Override
    public void afterSingletonsInstantiated() {
        GatewayProperties written = properties.get();
        if (written == null) {
            return;
        }
        // of several factories with the same name, the gateway takes the last one
        Map<String, GatewayFilterFactory<?>> byName = new HashMap<>();
        factories.get().forEach(factory -> byName.put(factory.name(), factory));
        check("default-filters", written.getDefaultFilters(), byName);
        for (RouteDefinition route : written.getRoutes()) {
            check(String.valueOf(route.getId()), route.getFilters(), byName);
        }
    }

    private void check(String route, List<FilterDefinition> filters, Map<String, GatewayFilterFactory<?>> byName) {
        for (FilterDefinition filter : filters) {
            if (byName.get(filter.getName()) instanceof RateLimitGatewayFilterFactory) {
                List<String> written = new ArrayList<>(filter.getArgs().values());
                if (written.stream().noneMatch(text -> text.startsWith(EXPRESSION))) {
                    limits.ofRoute(route, RateLimitGatewayFilterFactory.namesIn(written));
                }
            }
        }
    }

    @Override
    public void onApplicationEvent(RefreshRoutesResultEvent event) {
        if (event.isSuccess() && event.getSource() instanceof RouteLocator locator) {
            locator.getRoutes().collectList().subscribe(this::enforce);
        }
    }

    private synchronized void enforce(List<Route> routes) {
        Map<String, Set<String>> named = new HashMap<>();
        for (Route route : routes) {
            named.computeIfAbsent(route.getId(), any -> new TreeSet<>()).addAll(policiesOf(route.getFilters()));
        }
        named.values().removeIf(Set::isEmpty);
        limits.replaceRoutes(named);
    }

    private static List<String> policiesOf(List<GatewayFilter> filters) {
        return filters.stream().flatMap(GatewayRoutes::policiesOf).toList();
    }

    private static Stream<String> policiesOf(GatewayFilter filter) {
        GatewayFilter inner = filter instanceof OrderedGatewayFilter ordered ? ordered.getDelegate() : filter;
        return inner instanceof RateLimitGatewayFilterFactory.Filter own ? own.policies().stream() : Stream.empty();
    }

    @Override
    public List<String> find(ServerWebExchange exchange) {
        RoutePredicateHandlerMapping known = mapping.get();
        if (known == null) {
            return List.of();
        }
        known.getHandler(exchange).block(PATIENCE);
        Route route = exchange.getAttribute(ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR);
        return route == null ? List.of() : policiesOf(route.getFilters());
    }
}
