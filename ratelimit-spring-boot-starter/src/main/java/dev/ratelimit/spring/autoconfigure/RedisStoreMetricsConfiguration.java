package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.spring.boot.redis.RedisStoreClient;
import dev.ratelimit.spring.boot.redis.RedisStoreMeters;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Metrics of the store on Redis, if there are the store and a registry. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({MeterRegistry.class, RedisStore.class})
@ConditionalOnBean({MeterRegistry.class, RedisStoreClient.class})
class RedisStoreMetricsConfiguration {

    @Bean("dev.ratelimit.redisStoreMeters")
    RedisStoreMeters rateLimitStoreMeters(MeterRegistry registry) {
        return new RedisStoreMeters(registry);
    }
}
