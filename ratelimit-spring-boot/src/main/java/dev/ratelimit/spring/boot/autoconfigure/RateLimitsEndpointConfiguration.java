package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.boot.actuate.EndpointArguments;
import dev.ratelimit.spring.boot.actuate.EndpointSurroundings;
import dev.ratelimit.spring.boot.actuate.InstanceName;
import dev.ratelimit.spring.boot.actuate.RateLimitsEndpoint;
import dev.ratelimit.spring.boot.actuate.RateLimitsEndpointProperties;
import dev.ratelimit.spring.boot.spi.Operator;
import dev.ratelimit.spring.boot.spi.RequestExplainer;
import dev.ratelimit.spring.boot.spi.StoreReport;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.operation.RateLimitOperations;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** The actuator endpoint and the counts that it shows, if it is exposed. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(RequestRules.class)
@ConditionalOnAvailableEndpoint(endpoint = RateLimitsEndpoint.class)
@EnableConfigurationProperties(RateLimitsEndpointProperties.class)
class RateLimitsEndpointConfiguration {

    @Bean("dev.ratelimit.traffic")
    OutcomeCounter rateLimitTraffic(
            RateLimitOperations operations, ObjectProvider<Scheduler> scheduler, ObjectProvider<Ticker> ticker) {
        Ticker clock = ticker.getIfAvailable(Ticker::system);
        return operations.observations().record(scheduler.getIfAvailable(() -> Scheduler.of(clock)), clock);
    }

    /** Decided by the value at run time, also if code was generated ahead of time. */
    @Bean("dev.ratelimit.recording")
    OutcomeCounter rateLimitRecording(
            RateLimitProperties properties, RateLimitOperations operations, ObjectProvider<Ticker> ticker) {
        RateLimitProperties.Recording recording = properties.recording();
        return recording.enabled()
                ? operations
                        .observations()
                        .recordRequests(
                                ticker.getIfAvailable(Ticker::system), recording.maxRequests(), recording.share())
                : OutcomeCounter.NONE;
    }

    /** Of a store that has none of its own. */
    @Bean("dev.ratelimit.storeReport")
    @ConditionalOnMissingBean(StoreReport.class)
    StoreReport rateLimitStoreReport(RateLimitStore store) {
        return () -> Map.of("type", store instanceof InMemoryStore ? "memory" : "custom", "available", true);
    }

    @Bean("dev.ratelimit.endpointArguments")
    static EndpointArguments rateLimitEndpointArguments(
            Operator operator, ObjectProvider<RateLimitsEndpoint> endpoint) {
        return new EndpointArguments(operator, endpoint::getObject);
    }

    @Bean("dev.ratelimit.endpointSurroundings")
    EndpointSurroundings rateLimitEndpointSurroundings(
            StoreReport store, Environment environment, ObjectProvider<EndpointAccessResolver> access) {
        EndpointAccessResolver resolver = access.getIfAvailable();
        boolean writable = resolver != null
                && resolver.accessFor(EndpointId.of(RateLimitsEndpoint.ID), Access.READ_ONLY) == Access.UNRESTRICTED;
        return new EndpointSurroundings(store, new InstanceName(environment), writable);
    }

    @Bean("dev.ratelimit.endpoint")
    RateLimitsEndpoint rateLimitsEndpoint(
            RateLimitOperations operations,
            RequestExplainer explainer,
            EndpointSurroundings surroundings,
            RateLimitsEndpointProperties properties) {
        return new RateLimitsEndpoint(operations, explainer, surroundings, properties);
    }
}
