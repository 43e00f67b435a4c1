package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.spring.config.RateLimitProperties;
import dev.ratelimit.spring.config.RateLimitProperties.Headers;
import dev.ratelimit.spring.web.RateLimitFilter;
import dev.ratelimit.spring.web.RateLimitHeaders;
import dev.ratelimit.spring.web.Rejection;
import jakarta.servlet.DispatcherType;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.web.servlet.DispatcherServlet;

/** The filter, and the rules that it enforces. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(DispatcherServlet.class)
@Conditional(OnRateLimitsCondition.class)
class RateLimitFilterConfiguration {

    /** Where Spring Security's chain runs, if nothing else is said: SecurityFilterProperties.DEFAULT_FILTER_ORDER. */
    private static final int SECURITY_FILTER_ORDER = -100;

    @Bean
    ActiveRules rateLimitRules(ApplicationContext context, RateLimitProperties properties) {
        return new ActiveRules(context, properties);
    }

    @Bean
    FilterRegistrationBean<RateLimitFilter> rateLimitFilter(
            ActiveRules rules,
            RateLimitStore store,
            ObjectProvider<StoreDecorator> decorators,
            RateLimitProperties properties,
            Environment environment) {
        RateLimitStore decorated = store;
        for (StoreDecorator decorator : decorators) {
            decorated = decorator.apply(decorated);
        }
        RateLimitFilter filter =
                new RateLimitFilter(rules::requestRules, decorated, headers(properties), rejection(properties));
        FilterRegistrationBean<RateLimitFilter> registration = new FilterRegistrationBean<>(filter);
        registration.setDispatcherTypes(DispatcherType.REQUEST);
        registration.setAsyncSupported(true);
        registration.setOrder(
                10 + environment.getProperty("spring.security.filter.order", Integer.class, SECURITY_FILTER_ORDER));
        return registration;
    }

    private static RateLimitHeaders headers(RateLimitProperties properties) {
        Headers headers = properties.headers();
        return new RateLimitHeaders(
                headers == Headers.DRAFT || headers == Headers.BOTH,
                headers == Headers.LEGACY || headers == Headers.BOTH);
    }

    private static Rejection rejection(RateLimitProperties properties) {
        RateLimitProperties.Response response = properties.response();
        return new Rejection(
                response.status(), response.body(), response.detail(), properties.retryAfterMillisHeader());
    }
}
