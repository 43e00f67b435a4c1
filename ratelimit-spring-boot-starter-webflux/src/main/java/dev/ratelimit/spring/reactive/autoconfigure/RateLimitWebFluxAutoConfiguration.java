package dev.ratelimit.spring.reactive.autoconfigure;

import dev.ratelimit.spring.boot.autoconfigure.RateLimitsConfiguration;
import dev.ratelimit.spring.boot.spi.Operator;
import dev.ratelimit.spring.reactive.request.ReactiveOperator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * Auto-configuration of rate limits in WebFlux applications: a store and a limiter for use by the application, and the
 * filters if there is a policy or an annotation, unless {@code ratelimit.enabled} is false.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.web.reactive.ReactiveWebSecurityAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@Import({RateLimitWebFilterConfiguration.class, RateLimitsConfiguration.class})
public final class RateLimitWebFluxAutoConfiguration {

    @Bean("dev.ratelimit.operator")
    static Operator rateLimitOperator() {
        return new ReactiveOperator();
    }
}
