package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.Ticker;
import dev.ratelimit.jdbc.JdbcStore;
import dev.ratelimit.jdbc.JdbcStoreFailure;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.RedisStoreFailure;
import dev.ratelimit.spring.boot.metrics.ChangeMeters;
import dev.ratelimit.spring.boot.metrics.EndpointMeters;
import dev.ratelimit.spring.boot.metrics.MemoryStoreMeters;
import dev.ratelimit.spring.boot.metrics.MeteredOutcomeCounter;
import dev.ratelimit.spring.boot.metrics.MeteredStore;
import dev.ratelimit.spring.boot.metrics.ObservedOutcomes;
import dev.ratelimit.spring.boot.metrics.WaitingMeters;
import dev.ratelimit.spring.boot.redis.RedisChanges;
import dev.ratelimit.spring.boot.redis.RedisChangesMeters;
import dev.ratelimit.spring.boot.redis.RedisStoreClient;
import dev.ratelimit.spring.boot.spi.ChangeObserver;
import dev.ratelimit.spring.boot.spi.Operator;
import dev.ratelimit.spring.boot.spi.StoreDecorator;
import dev.ratelimit.spring.boot.store.StoreMeters;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.operation.LiveChanges;
import dev.ratelimit.spring.rules.operation.RefreshedConfiguration;
import dev.ratelimit.spring.rules.override.KeyOverrides;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What operators see of the rate limits: metrics, observations and audit events, as far as there are any. */
@Configuration(proxyBeanMethods = false)
class RateLimitObservabilityConfiguration {

    /** Metrics, if there is a registry. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    @ConditionalOnBean(MeterRegistry.class)
    static class Metrics {

        @Bean("dev.ratelimit.meteredStore")
        StoreDecorator rateLimitMetrics(MeterRegistry registry, RateLimitProperties properties) {
            return store -> new MeteredStore(store, properties.store().type(), registry);
        }

        @Bean("dev.ratelimit.outcomes")
        OutcomeCounter rateLimitOutcomes(MeterRegistry registry, ObjectProvider<Ticker> ticker) {
            return new MeteredOutcomeCounter(registry, ticker.getIfAvailable(Ticker::system));
        }

        /** Decided by the value at run time, also if code was generated ahead of time. */
        @Bean("dev.ratelimit.endpointMeters")
        OutcomeCounter rateLimitEndpointMeters(MeterRegistry registry, RateLimitProperties properties) {
            return properties.metrics().endpoints()
                    ? new EndpointMeters(registry, properties.metrics().maxEndpoints())
                    : OutcomeCounter.NONE;
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
        ChangeMeters rateLimitChangeMeters(
                MeterRegistry registry,
                ObjectProvider<LiveChanges> changes,
                ObjectProvider<KeyOverrides> overrides,
                ObjectProvider<RefreshedConfiguration> configuration) {
            return new ChangeMeters(registry, changes, overrides, configuration);
        }
    }

    /** Metrics of the store on Redis, if there are the store and a registry. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({MeterRegistry.class, RedisStore.class})
    @ConditionalOnBean({MeterRegistry.class, RedisStoreClient.class})
    static class RedisStoreMetrics {

        @Bean("dev.ratelimit.storeMeters")
        StoreMeters rateLimitStoreMeters(MeterRegistry registry) {
            return new StoreMeters(registry, RedisStoreFailure.values());
        }

        @Bean("dev.ratelimit.redisChangesMeters")
        RedisChangesMeters rateLimitRedisChangesMeters(MeterRegistry registry, ObjectProvider<RedisChanges> changes) {
            return new RedisChangesMeters(registry, changes);
        }
    }

    /** Metrics of the store in a database, if there are the store and a registry. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({MeterRegistry.class, JdbcStore.class})
    @ConditionalOnBean(
            name = RemoteStoreConfiguration.STORE,
            value = {MeterRegistry.class, JdbcStore.class})
    static class JdbcStoreMetrics {

        @Bean("dev.ratelimit.storeMeters")
        StoreMeters rateLimitStoreMeters(MeterRegistry registry) {
            return new StoreMeters(registry, JdbcStoreFailure.values());
        }
    }

    /** Key values of observations, if there is a registry of them. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ObservationRegistry.class)
    @ConditionalOnBean(ObservationRegistry.class)
    static class Observations {

        @Bean("dev.ratelimit.observedOutcomes")
        OutcomeCounter rateLimitObservedOutcomes(ObservationRegistry registry) {
            return new ObservedOutcomes(registry);
        }
    }

    /** Publishes every change as an audit event, if there is Spring Boot's actuator. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(AuditApplicationEvent.class)
    static class AuditEvents {

        private static final String TYPE = "RATE_LIMIT_CHANGED";

        @Bean("dev.ratelimit.audit")
        ChangeObserver rateLimitAudit(ApplicationEventPublisher events, Operator operator) {
            return (policy, what) -> {
                Map<String, Object> data = new HashMap<>(what);
                data.put("policy", policy);
                String who = Objects.requireNonNullElse(operator.name(), "application");
                events.publishEvent(new AuditApplicationEvent(who, TYPE, data));
            };
        }
    }
}
