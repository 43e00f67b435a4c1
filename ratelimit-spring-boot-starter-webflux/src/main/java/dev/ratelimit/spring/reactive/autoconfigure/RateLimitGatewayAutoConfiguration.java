package dev.ratelimit.spring.reactive.autoconfigure;

import dev.ratelimit.spring.reactive.GatewayLimits;
import dev.ratelimit.spring.reactive.filter.RateLimitFilters;
import dev.ratelimit.spring.reactive.gateway.GatewayRoutes;
import dev.ratelimit.spring.reactive.gateway.NamedLimits;
import dev.ratelimit.spring.reactive.gateway.RateLimitGatewayFilterFactory;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.filter.factory.GatewayFilterFactory;
import org.springframework.cloud.gateway.handler.RoutePredicateHandlerMapping;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.reactive.DispatcherHandler;

/** Auto-configuration of rate limits of Spring Cloud Gateway's routes. */
@AutoConfiguration
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass({DispatcherHandler.class, GatewayFilterFactory.class})
@ConditionalOnProperty(name = "spring.cloud.gateway.server.webflux.enabled", matchIfMissing = true)
public final class RateLimitGatewayAutoConfiguration {

    /** The name of what knows the routes. */
    static final String ROUTES = "dev.ratelimit.gatewayRoutes";

    @Bean("dev.ratelimit.namedLimits")
    NamedLimits rateLimitNamedLimits(
            ObjectProvider<RateLimitProperties> properties, ObjectProvider<RateLimitFilters> filters) {
        return new NamedLimits(() -> properties.getObject().enabled(), filters::getIfAvailable);
    }

    /** Comes first, so that a filter of the application with the same name replaces it. */
    @Bean("dev.ratelimit.gatewayFilterFactory")
    @Order(Ordered.HIGHEST_PRECEDENCE)
    RateLimitGatewayFilterFactory rateLimitGatewayFilterFactory(NamedLimits limits) {
        return new RateLimitGatewayFilterFactory(limits);
    }

    @Bean("dev.ratelimit.gatewayLimits")
    GatewayLimits rateLimitGatewayLimits(RateLimitGatewayFilterFactory factory) {
        return policies -> factory.apply(config -> config.setPolicies(List.of(policies)));
    }

    @Bean(ROUTES)
    GatewayRoutes rateLimitGatewayRoutes(
            NamedLimits limits,
            ObjectProvider<GatewayFilterFactory<?>> factories,
            ObjectProvider<GatewayProperties> properties,
            ObjectProvider<RoutePredicateHandlerMapping> mapping) {
        return new GatewayRoutes(
                limits, () -> factories.orderedStream().toList(), properties::getIfAvailable, mapping::getIfAvailable);
    }
}
