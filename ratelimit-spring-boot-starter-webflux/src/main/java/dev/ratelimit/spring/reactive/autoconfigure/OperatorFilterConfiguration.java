package dev.ratelimit.spring.reactive.autoconfigure;

import dev.ratelimit.spring.boot.actuate.RateLimitsEndpoint;
import dev.ratelimit.spring.reactive.request.OperatorFilter;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What the actuator endpoint needs of WebFlux, if it is exposed. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(PathMappedEndpoints.class)
@ConditionalOnBean(RateLimitsEndpoint.class)
class OperatorFilterConfiguration {

    @Bean("dev.ratelimit.operatorFilter")
    OperatorFilter rateLimitOperatorFilter(ObjectProvider<PathMappedEndpoints> endpoints) {
        EndpointId id = EndpointId.of(RateLimitsEndpoint.ID);
        return new OperatorFilter(() -> {
            PathMappedEndpoints known = endpoints.getIfAvailable();
            return known == null ? null : known.getPath(id);
        });
    }
}
