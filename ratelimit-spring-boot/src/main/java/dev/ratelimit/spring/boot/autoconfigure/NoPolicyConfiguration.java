package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.boot.method.RateLimitedPointcut;
import dev.ratelimit.spring.boot.version.Boot;
import dev.ratelimit.spring.rules.config.AnnotatedRules;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/** Logs at start-up that nothing is limited, and why, so that nobody relies on limits that do not exist. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(RequestRules.class)
class NoPolicyConfiguration {

    private static final Logger log = LoggerFactory.getLogger(RateLimitsConfiguration.class);

    NoPolicyConfiguration(RateLimitProperties properties) {
        log.info(
                properties.enabled()
                        ? "No rate limits: there is no policy under ratelimit.policies and no @RateLimited method"
                        : "No rate limits: ratelimit.enabled is false");
    }

    private static RateLimitConfigurationException withoutFramework(String where, String what) {
        return new RateLimitConfigurationException(
                where,
                null,
                what + " need a web framework of Spring, which is missing; add " + Boot.WEB_STARTER + ", or"
                        + " spring-boot-starter-webflux with " + Boot.MODULES + "-starter-webflux");
    }

    /**
     * Stops at beans whose class, and so its annotations, was unknown when it was decided that there are no limits, and before all
     * beans if there are some for a framework that is not there.
     */
    @Bean("dev.ratelimit.unlimitedBeans")
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static BeanPostProcessor rateLimitUnlimitedBeans(Environment environment, ConfigurableListableBeanFactory beans) {
        boolean enabled = OnRateLimitsEnabled.in(environment);
        if (enabled && OnRateLimitsCondition.hasPolicies(environment)) {
            throw withoutFramework("ratelimit.policies", "policies");
        }
        if (enabled && OnRateLimitsCondition.anyAnnotated(beans)) {
            throw withoutFramework("@RateLimited on a bean", "annotations");
        }
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String beanName) {
                Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(bean));
                if (enabled && !RateLimitedPointcut.isController(type) && AnnotatedRules.anyOnIfReadable(type)) {
                    throw new RateLimitConfigurationException(
                            "@RateLimited on " + type.getSimpleName(),
                            null,
                            "it has no effect: the class of this bean was not known when the limits were set up; write it"
                                    + " as the result type of the @Bean method, or a policy under ratelimit.policies");
                }
                return bean;
            }
        };
    }
}
