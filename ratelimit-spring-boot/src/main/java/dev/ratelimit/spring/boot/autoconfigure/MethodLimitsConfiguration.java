package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.spring.boot.method.CallCharger;
import dev.ratelimit.spring.boot.method.RateLimitedInterceptor;
import dev.ratelimit.spring.boot.method.RateLimitedPointcut;
import dev.ratelimit.spring.boot.method.RateLimitedPostProcessor;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.util.function.SingletonSupplier;

/** Limits of method calls: those of beans, and of controllers if they depend on the arguments. */
@Configuration(proxyBeanMethods = false)
@Conditional({OnRateLimitsEnabled.class, OnRateLimitsCondition.class})
class MethodLimitsConfiguration {

    @Bean("dev.ratelimit.methodPostProcessor")
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static RateLimitedPostProcessor rateLimitMethodPostProcessor(
            ConfigurableBeanFactory beans,
            Environment environment,
            ObjectProvider<RateLimitProperties> properties,
            ObjectProvider<CallCharger> chargers) {
        SingletonSupplier<CallCharger> charger =
                SingletonSupplier.ofNullable(() -> properties.getObject().enabled() ? chargers.getObject() : null);
        // not a bean, or Spring's own proxies would have it, too
        Advisor limits = new DefaultPointcutAdvisor(
                new RateLimitedPointcut(beans::resolveEmbeddedValue, properties::getObject),
                new RateLimitedInterceptor(charger));
        RateLimitedPostProcessor processor = new RateLimitedPostProcessor(limits);
        processor.setProxyTargetClass(BoundProperty.of(environment, "spring.aop.proxy-target-class", true));
        return processor;
    }

    /** Finds what charges calls before the first one, which may be made by a thread that must not wait for others. */
    @Bean("dev.ratelimit.methodLimitsAtStart")
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static SmartInitializingSingleton rateLimitMethodLimitsAtStart(RateLimitedPostProcessor processor) {
        return () -> ((RateLimitedInterceptor) processor.limits().getAdvice()).prepare();
    }

    @Bean("dev.ratelimit.methodPostProcessorFirst")
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static RateLimitedPostProcessor.First rateLimitMethodPostProcessorFirst(RateLimitedPostProcessor processor) {
        return new RateLimitedPostProcessor.First(processor.limits());
    }
}
