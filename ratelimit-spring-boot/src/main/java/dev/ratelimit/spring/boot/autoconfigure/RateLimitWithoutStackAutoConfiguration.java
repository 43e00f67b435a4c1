package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
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

/**
 * Reports limits that would limit nothing: those of applications without a web stack, or with one whose starter is missing.
 * Both starters register it.
 */
@AutoConfiguration
public final class RateLimitWithoutStackAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(RateLimitWithoutStackAutoConfiguration.class);

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnMissingClass("dev.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration")
    static class Servlet {

        Servlet(Environment environment, ConfigurableListableBeanFactory beans) {
            report(
                    environment,
                    beans,
                    "a servlet application",
                    "WebFlux",
                    "-starter instead, or remove what brings Spring MVC, such as " + Boot.WEB_STARTER);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    @ConditionalOnMissingClass("dev.ratelimit.spring.reactive.autoconfigure.RateLimitWebFluxAutoConfiguration")
    static class Reactive {

        Reactive(Environment environment, ConfigurableListableBeanFactory beans) {
            report(
                    environment,
                    beans,
                    "a WebFlux application",
                    "Spring MVC",
                    "-starter-webflux instead, or add " + Boot.WEB_STARTER + " to make it a servlet application");
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

    /**
     * Stops the start if there are limits.
     *
     * @param application what it is
     * @param stack what the starter is for
     * @param other the end of the other starter's name, and what else helps
     */
    private static void report(
            Environment environment,
            ConfigurableListableBeanFactory beans,
            String application,
            String stack,
            String other) {
        if (!OnRateLimitsEnabled.in(environment)) {
            return;
        }
        boolean policies = OnRateLimitsCondition.hasPolicies(environment);
        if (policies || OnRateLimitsCondition.anyAnnotated(beans)) {
            throw new RateLimitConfigurationException(
                    policies ? "ratelimit.policies" : "@RateLimited on a bean",
                    null,
                    "this is " + application + ", and " + (policies ? "policies" : "annotations")
                            + " of this starter are for " + stack + ", so they would limit nothing; use "
                            + Boot.MODULES + other);
        }
        log.warn("No rate limits: this is {}, and the starter is for {}", application, stack);
    }
}
