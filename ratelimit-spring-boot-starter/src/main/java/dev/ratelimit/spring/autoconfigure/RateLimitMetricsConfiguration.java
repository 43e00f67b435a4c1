package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.boot.metrics.ChangeMeters;
import dev.ratelimit.spring.boot.metrics.MemoryStoreMeters;
import dev.ratelimit.spring.boot.metrics.MeteredOutcomeCounter;
import dev.ratelimit.spring.boot.metrics.MeteredStore;
import dev.ratelimit.spring.boot.metrics.WaitingMeters;
import dev.ratelimit.spring.boot.spi.StoreDecorator;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.operation.RateLimitOperations;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Metrics, if there is a registry. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
class RateLimitMetricsConfiguration {

    @Bean("dev.ratelimit.meteredStore")
    StoreDecorator rateLimitMetrics(MeterRegistry registry) {
        return store -> new MeteredStore(store, registry);
    }

    @Bean("dev.ratelimit.outcomes")
    OutcomeCounter rateLimitOutcomes(MeterRegistry registry, ObjectProvider<Ticker> ticker) {
        return new MeteredOutcomeCounter(registry, ticker.getIfAvailable(Ticker::system));
    }

    @Bean("dev.ratelimit.waitingMeters")
    WaitingMeters rateLimitWaitingMeters(MeterRegistry registry, ObjectProvider<WaitingRequests> requests) {
        return new WaitingMeters(registry, requests);
    }

    @Bean("dev.ratelimit.memoryStoreMeters")
    MemoryStoreMeters rateLimitMemoryStoreMeters(MeterRegistry registry, ObjectProvider<InMemoryStore> stores) {
        return new MemoryStoreMeters(registry, stores);
    }

    @Bean("dev.ratelimit.changeMeters")
    ChangeMeters rateLimitChangeMeters(MeterRegistry registry, ObjectProvider<RateLimitOperations> operations) {
        return new ChangeMeters(registry, operations);
    }
}
