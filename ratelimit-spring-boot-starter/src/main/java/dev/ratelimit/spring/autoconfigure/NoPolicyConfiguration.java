package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.RateLimitProperties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Configuration;

/** Logs at start-up that nothing is limited, and why, so that nobody relies on limits that do not exist. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(ActiveRules.class)
class NoPolicyConfiguration {

    private static final Logger log = LoggerFactory.getLogger(RateLimitAutoConfiguration.class);

    NoPolicyConfiguration(RateLimitProperties properties) {
        if (!properties.enabled()) {
            log.info("No rate limits: ratelimit.enabled is false");
        } else if (properties.policies().isEmpty()) {
            log.info("No rate limits: there is no policy under ratelimit.policies and no @RateLimited method");
        } else {
            throw new RateLimitConfigurationException(
                    "ratelimit.policies",
                    null,
                    "policies need Spring MVC, which is missing; add spring-boot-starter-webmvc");
        }
    }
}
