package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.servlet.filter.RateLimitFilters;
import dev.ratelimit.spring.servlet.gateway.GatewayRoutes;
import dev.ratelimit.spring.servlet.gateway.NamedLimits;
import dev.ratelimit.spring.servlet.gateway.RateLimitFilterFunctions;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.cloud.gateway.server.mvc.config.GatewayMvcProperties;
import org.springframework.cloud.gateway.server.mvc.filter.FilterSupplier;
import org.springframework.context.annotation.Bean;
import org.springframework.web.servlet.DispatcherServlet;

/** Auto-configuration of rate limits of Spring Cloud Gateway's routes, if the gateway is that of Spring MVC. */
@AutoConfiguration
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({DispatcherServlet.class, FilterSupplier.class})
@ConditionalOnProperty(name = "spring.cloud.gateway.server.webmvc.enabled", matchIfMissing = true)
public final class RateLimitGatewayMvcAutoConfiguration {

    /** The name of what knows the routes. */
    static final String ROUTES = "dev.ratelimit.gatewayRoutes";

    @Bean("dev.ratelimit.namedLimits")
    NamedLimits rateLimitNamedLimits(
            ObjectProvider<RateLimitProperties> properties, ObjectProvider<RateLimitFilters> filters) {
        return new NamedLimits(() -> properties.getObject().enabled(), filters::getIfAvailable);
    }

    @Bean("dev.ratelimit.gatewayFilters")
    RateLimitFilterFunctions.FilterSupplier rateLimitGatewayFilters() {
        return new RateLimitFilterFunctions.FilterSupplier();
    }

    @Bean(ROUTES)
    GatewayRoutes rateLimitGatewayRoutes(NamedLimits limits, ObjectProvider<GatewayMvcProperties> properties) {
        return new GatewayRoutes(limits, properties::getIfAvailable);
    }
}
