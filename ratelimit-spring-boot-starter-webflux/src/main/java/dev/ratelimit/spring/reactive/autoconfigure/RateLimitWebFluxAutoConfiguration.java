package dev.ratelimit.spring.reactive.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.spring.boot.autoconfigure.OnRateLimitsEnabled;
import dev.ratelimit.spring.boot.autoconfigure.RateLimitsConfiguration;
import dev.ratelimit.spring.boot.endpoint.AnnotationCheck;
import dev.ratelimit.spring.boot.spi.Operator;
import dev.ratelimit.spring.boot.version.Boot;
import dev.ratelimit.spring.reactive.filter.ReservationArgumentResolver;
import dev.ratelimit.spring.reactive.request.ReactiveOperator;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.result.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.reactive.result.method.annotation.ArgumentResolverConfigurer;

/**
 * Auto-configuration of rate limits in WebFlux applications: a store and a limiter for use by the application, and the
 * filters if there is a policy or an annotation, unless {@code ratelimit.enabled} is false.
 */
@AutoConfiguration(
        afterName = {
            Boot.WEB_FLUX,
            Boot.REACTIVE_SECURITY,
            Boot.REGISTRIES,
            Boot.SIMPLE_REGISTRY,
            Boot.OBSERVATIONS,
            Boot.REDIS
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@Import({
    RateLimitWebFilterConfiguration.class,
    RateLimitsConfiguration.class,
    OperatorFilterConfiguration.class,
    NoRouteLimitsConfiguration.class
})
public final class RateLimitWebFluxAutoConfiguration {

    @Bean("dev.ratelimit.operator")
    static Operator rateLimitOperator() {
        return new ReactiveOperator();
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DispatcherHandler.class)
    static class Handlers {

        /** Also while limits are off, because handlers have the parameter. */
        @Bean("dev.ratelimit.handlerArguments")
        WebFluxConfigurer rateLimitHandlerArguments(ObjectProvider<RateLimitStore> store) {
            return new WebFluxConfigurer() {
                @Override
                public void configureArgumentResolvers(ArgumentResolverConfigurer resolvers) {
                    resolvers.addCustomResolver(new ReservationArgumentResolver(store::getObject));
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DispatcherHandler.class)
    @Conditional(OnRateLimitsEnabled.class)
    static class Checks {

        @Bean("dev.ratelimit.annotationCheck")
        AnnotationCheck rateLimitAnnotationCheck(ApplicationContext context) {
            return new AnnotationCheck(
                    context, () -> handlers(context), () -> OnRateLimitsEnabled.in(context.getEnvironment()));
        }

        private static List<HandlerMethod> handlers(ApplicationContext context) {
            return context.getBeansOfType(RequestMappingInfoHandlerMapping.class, true, false).values().stream()
                    .flatMap(mapping -> mapping.getHandlerMethods().values().stream())
                    .toList();
        }
    }
}
