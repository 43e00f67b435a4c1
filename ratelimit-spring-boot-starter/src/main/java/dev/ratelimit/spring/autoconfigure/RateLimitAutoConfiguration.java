package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.spring.boot.autoconfigure.OnRateLimitsEnabled;
import dev.ratelimit.spring.boot.autoconfigure.RateLimitsConfiguration;
import dev.ratelimit.spring.boot.endpoint.AnnotationCheck;
import dev.ratelimit.spring.boot.spi.Operator;
import dev.ratelimit.spring.boot.version.Boot;
import dev.ratelimit.spring.servlet.filter.ReservationArgumentResolver;
import dev.ratelimit.spring.servlet.request.ServletOperator;
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
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;

/**
 * Auto-configuration of rate limits: a store and a limiter for use by the application, and the filter if there is a
 * policy or an annotation, unless {@code ratelimit.enabled} is false.
 */
@AutoConfiguration(
        afterName = {Boot.WEB_MVC, Boot.SECURITY, Boot.REGISTRIES, Boot.SIMPLE_REGISTRY, Boot.OBSERVATIONS, Boot.REDIS})
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@Import({RateLimitFilterConfiguration.class, RateLimitsConfiguration.class})
public final class RateLimitAutoConfiguration {

    @Bean("dev.ratelimit.operator")
    static Operator rateLimitOperator() {
        return new ServletOperator();
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DispatcherServlet.class)
    static class Handlers {

        /** Also while limits are off, because handlers have the parameter. */
        @Bean("dev.ratelimit.handlerArguments")
        WebMvcConfigurer rateLimitHandlerArguments(ObjectProvider<RateLimitStore> store) {
            return new WebMvcConfigurer() {
                @Override
                public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
                    resolvers.add(new ReservationArgumentResolver(store.getObject()));
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DispatcherServlet.class)
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
