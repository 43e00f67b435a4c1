package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.remote.RemoteStore;
import dev.ratelimit.spring.boot.store.StoreHealth;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The health of a store on other servers, {@code rateLimitStore}, if there are the store and an actuator. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(RemoteStore.class)
@ConditionalOnEnabledHealthIndicator("rate-limit-store")
class StoreHealthConfiguration {

    @Bean
    HealthIndicator rateLimitStoreHealthIndicator(RemoteStore store, RateLimitProperties properties) {
        return () -> {
            StoreHealth health = StoreHealth.of(store, properties);
            return Health.status(health.status())
                    .withDetail("decides", health.decides())
                    .build();
        };
    }
}
