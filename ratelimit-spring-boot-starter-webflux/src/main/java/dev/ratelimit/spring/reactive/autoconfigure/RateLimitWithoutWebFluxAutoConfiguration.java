package dev.ratelimit.spring.reactive.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.boot.autoconfigure.OnRateLimitsCondition;
import dev.ratelimit.spring.boot.autoconfigure.OnRateLimitsEnabled;
import dev.ratelimit.spring.boot.version.Boot;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnNotWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Reports policies in applications without WebFlux, where they would limit nothing, unless the other starter is there. */
@AutoConfiguration
@ConditionalOnMissingClass("dev.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration")
public final class RateLimitWithoutWebFluxAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(RateLimitWebFluxAutoConfiguration.class);

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    static class Servlet {

        Servlet(Environment environment, ConfigurableListableBeanFactory beans) {
            if (!OnRateLimitsEnabled.in(environment)) {
                return;
            }
            if (OnRateLimitsCondition.hasPolicies(environment)) {
                throw mistake("ratelimit.policies", "policies");
            }
            if (OnRateLimitsCondition.anyAnnotated(beans)) {
                throw mistake("@RateLimited on a bean", "annotations");
            }
            log.warn("No rate limits: this is a servlet application, and the starter is for WebFlux");
        }

        private static RateLimitConfigurationException mistake(String where, String what) {
            return new RateLimitConfigurationException(
                    where,
                    null,
                    "this is a servlet application, and " + what
                            + " of this starter are for WebFlux, so they would limit"
                            + " nothing; use " + Boot.MODULES
                            + "-starter instead, or remove what brings Spring MVC, such as "
                            + Boot.WEB_STARTER);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnNotWebApplication
    static class NoWeb {

        NoWeb(Environment environment, ConfigurableListableBeanFactory beans) {
            if (!OnRateLimitsEnabled.in(environment)) {
                return;
            }
            if (OnRateLimitsCondition.hasPolicies(environment)) {
                log.warn(
                        "No rate limits: this is not a web application, so the policies under ratelimit.policies limit nothing");
            }
            if (OnRateLimitsCondition.anyAnnotated(beans)) {
                log.warn("No rate limits: this is not a web application, so @RateLimited limits nothing;"
                        + " use RateLimiter of ratelimit-core");
            }
        }
    }
}
