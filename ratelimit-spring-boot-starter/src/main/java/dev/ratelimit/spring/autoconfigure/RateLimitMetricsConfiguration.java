package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.web.Outcomes;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Metrics, where there is a registry for them. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
class RateLimitMetricsConfiguration {

    @Bean
    StoreDecorator rateLimitMetrics(MeterRegistry registry) {
        return store -> new MeteredStore(store, registry);
    }

    @Bean
    Outcomes rateLimitOutcomes(MeterRegistry registry) {
        return new MeteredOutcomes(registry);
    }

    @Bean
    MemoryStoreMeters rateLimitMemoryStoreMeters(MeterRegistry registry, ObjectProvider<InMemoryStore> stores) {
        return new MemoryStoreMeters(registry, stores);
    }
}
