package dev.ratelimit.spring.autoconfigure;

import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Configuration;

/** Says at start-up that nothing is limited: nobody may believe to be limited and not be. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(ActiveRules.class)
class NothingLimitedConfiguration {

    NothingLimitedConfiguration() {
        LoggerFactory.getLogger(RateLimitAutoConfiguration.class)
                .info("No rate limits: there is no policy under ratelimit.policies and no @RateLimited controller");
    }
}
