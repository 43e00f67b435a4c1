package dev.ratelimit.spring.reactive.autoconfigure;

import dev.ratelimit.spring.reactive.GatewayLimits;
import dev.ratelimit.spring.reactive.filter.RateLimitFilters;
import dev.ratelimit.spring.reactive.gateway.GatewayRoutes;
import dev.ratelimit.spring.reactive.gateway.NamedLimits;
import dev.ratelimit.spring.reactive.gateway.PolicyRateLimiter;
import dev.ratelimit.spring.reactive.gateway.RateLimitGatewayFilterFactory;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.filter.factory.GatewayFilterFactory;
import org.springframework.cloud.gateway.handler.RoutePredicateHandlerMapping;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Fallback;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.reactive.DispatcherHandler;

/**
 * Auto-configuration of rate limits of Spring Cloud Gateway's routes. Comes before that of the gateway, which only has the
 * filter {@code RequestRateLimiter} if there is a limiter.
 */
@AutoConfiguration(beforeName = "org.springframework.cloud.gateway.config.GatewayAutoConfiguration")
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

    /** The default of {@code RequestRateLimiter} only if there is no other limiter. */
    @Bean
    @Fallback
    @ConditionalOnMissingBean
    PolicyRateLimiter policyRateLimiter(NamedLimits limits, ObjectProvider<ConfigurationService> configuration) {
        return new PolicyRateLimiter(limits, configuration.getIfAvailable());
    }

    @Bean(ROUTES)
    GatewayRoutes rateLimitGatewayRoutes(
            NamedLimits limits,
            PolicyRateLimiter limiter,
            ObjectProvider<GatewayFilterFactory<?>> factories,
            ObjectProvider<GatewayProperties> properties,
            ObjectProvider<RoutePredicateHandlerMapping> mapping) {
        return new GatewayRoutes(
                limits,
                limiter,
                () -> factories.orderedStream().toList(),
                properties::getIfAvailable,
                mapping::getIfAvailable);
    }
}
