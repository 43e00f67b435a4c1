package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnNotWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Tells applications that are none of servlets that their policies would limit nothing. */
@AutoConfiguration
public final class RateLimitWithoutServletAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(RateLimitAutoConfiguration.class);

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    static class Reactive {

        Reactive(Environment environment) {
            if (OnRateLimitsCondition.hasPolicies(environment)) {
                throw new RateLimitConfigurationException(
                        "ratelimit.policies",
                        null,
                        "this is a WebFlux application, and policies are for Spring MVC: they would limit nothing. Use"
                                + " RateLimiter of ratelimit-core, or spring.main.web-application-type: servlet");
            }
            log.warn("No rate limits: this is a WebFlux application, and the starter is for Spring MVC");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnNotWebApplication
    static class NoWeb {

        NoWeb(Environment environment) {
            if (OnRateLimitsCondition.hasPolicies(environment)) {
                log.warn(
                        "No rate limits: this is no web application, so the policies under ratelimit.policies limit nothing");
            }
        }
    }
}
