package dev.ratelimit.spring.reactive.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.reactive.RouteLimits;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.DispatcherHandler;

/** For functional routes that name policies, while limits are off, or if there are none. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(DispatcherHandler.class)
@ConditionalOnMissingBean(RouteLimits.class)
class NoRouteLimitsConfiguration {

    @Bean("dev.ratelimit.routeLimits")
    RouteLimits rateLimitRouteLimits(RateLimitProperties properties) {
        return policies -> {
            if (properties.enabled() && policies.length > 0) {
                throw new RateLimitConfigurationException(
                        "ratelimit.policies",
                        null,
                        "a functional route names the policy '" + policies[0] + "', but there is no policy; add it");
            }
            return (request, next) -> next.handle(request);
        };
    }
}
