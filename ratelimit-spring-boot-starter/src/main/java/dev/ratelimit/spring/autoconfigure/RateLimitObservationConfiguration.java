package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.boot.metrics.ObservedOutcomes;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Key values of observations, if there is a registry of them. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(ObservationRegistry.class)
class RateLimitObservationConfiguration {

    @Bean("dev.ratelimit.observedOutcomes")
    OutcomeCounter rateLimitObservedOutcomes(ObservationRegistry registry) {
        return new ObservedOutcomes(registry);
    }
}
