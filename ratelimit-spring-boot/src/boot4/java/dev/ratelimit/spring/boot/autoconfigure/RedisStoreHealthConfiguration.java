package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.spring.boot.redis.RedisStoreHealth;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The health of the store on Redis, {@code rateLimitStore}, if there are the store and an actuator. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class, RedisStore.class})
@ConditionalOnBean(RedisStore.class)
@ConditionalOnEnabledHealthIndicator("rate-limit-store")
class RedisStoreHealthConfiguration {

    @Bean
    HealthIndicator rateLimitStoreHealthIndicator(RedisStore store) {
        return () -> {
            RedisStoreHealth health = RedisStoreHealth.of(store.available());
            return Health.status(health.status())
                    .withDetail("decides", health.decides())
                    .build();
        };
    }
}
