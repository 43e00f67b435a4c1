package dev.ratelimit.spring.reactive.gateway;

import java.net.URI;
import java.util.List;
import org.springframework.cloud.gateway.event.RefreshRoutesEvent;
import org.springframework.cloud.gateway.filter.FilterDefinition;
import org.springframework.cloud.gateway.handler.predicate.PredicateDefinition;
import org.springframework.cloud.gateway.route.CachingRouteLocator;
import org.springframework.cloud.gateway.route.RouteDefinition;
import org.springframework.cloud.gateway.route.RouteDefinitionWriter;
import org.springframework.cloud.gateway.route.RouteLocator;
import reactor.core.publisher.Mono;

/** Routes that come when the gateway is running. */
final class Later {

    private Later() {}

    /** Replaces a route by one with this filter. */
    static void save(RoutedApp app, String id, String filter) {
        RouteDefinition route = new RouteDefinition();
        route.setId(id);
        route.setUri(URI.create("http://127.0.0.1:" + app.servicePort()));
        route.setPredicates(List.of(new PredicateDefinition("Path=/" + id)));
        route.setFilters(List.of(new FilterDefinition(filter)));
        app.app().bean(RouteDefinitionWriter.class).save(Mono.just(route)).block();
        ((CachingRouteLocator) app.app().bean(RouteLocator.class)).onApplicationEvent(new RefreshRoutesEvent(app));
    }
}
