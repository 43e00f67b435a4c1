package dev.ratelimit.spring.reactive.autoconfigure;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.boot.autoconfigure.OnRateLimitsCondition;
import dev.ratelimit.spring.boot.autoconfigure.OnRateLimitsEnabled;
import dev.ratelimit.spring.boot.spi.RequestExplainer;
import dev.ratelimit.spring.reactive.filter.ChargingHandlerAdapter;
import dev.ratelimit.spring.reactive.filter.RateLimitFilters;
import dev.ratelimit.spring.reactive.filter.RateLimitWebFilter;
import dev.ratelimit.spring.reactive.request.FactsFetcher;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.cors.reactive.CorsConfigurationSource;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.server.session.DefaultWebSessionManager;
import org.springframework.web.server.session.WebSessionManager;

/** The filters, either before and after Spring Security or one without it, and what they know of requests. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(DispatcherHandler.class)
@Conditional({OnRateLimitsEnabled.class, OnRateLimitsCondition.class})
class RateLimitWebFilterConfiguration {

    /**
     * The name of the only filter, or of the one after Spring Security. Names of beans are long to avoid conflicts with
     * those of the application.
     */
    static final String FILTER = "dev.ratelimit.filter";

    /** The name of the filter before Spring Security, if there are two stages. */
    static final String BEFORE_SECURITY = "dev.ratelimit.filterBeforeSecurity";

    /** The order of Spring Security's filter: WebFluxSecurityConfiguration.WEB_FILTER_CHAIN_FILTER_ORDER. */
    private static final int SECURITY_FILTER_ORDER = -100;

    private static final int DISTANCE = 10;

    /** The name of the bean of Spring Security's filter. */
    private static final String SECURITY_FILTER =
            "org.springframework.security.config.annotation.web.reactive.WebFluxSecurityConfiguration"
                    + ".WebFilterChainFilter";

    @Bean("dev.ratelimit.stack")
    ReactiveStack rateLimitStack(ApplicationContext context, ObjectProvider<Ticker> ticker) {
        return new ReactiveStack(context, ticker.getIfAvailable(Ticker::system));
    }

    @Bean("dev.ratelimit.explainer")
    RequestExplainer rateLimitExplainer() {
        return (facts, user, showKeys) -> Map.of();
    }

    @Bean("dev.ratelimit.filters")
    RateLimitFilters rateLimitFilters(
            RequestLimiter limiter,
            ReactiveStack stack,
            ApplicationContext context,
            ObjectProvider<WebSessionManager> sessions,
            ObjectProvider<CorsConfigurationSource> cors) {
        FactsFetcher fetcher = new FactsFetcher(sessions.getIfAvailable(DefaultWebSessionManager::new));
        return new RateLimitFilters(
                limiter, stack::endpoints, fetcher, context, () -> cors.orderedStream().toList());
    }

    @Bean("dev.ratelimit.handlerAdapter")
    ChargingHandlerAdapter rateLimitHandlerAdapter(ObjectProvider<HandlerAdapter> all) {
        return new ChargingHandlerAdapter(() -> all.orderedStream().toList());
    }

    @Bean(FILTER)
    RateLimitWebFilter rateLimitFilter(RateLimitFilters filters, ApplicationContext context) {
        int order = SECURITY_FILTER_ORDER + DISTANCE;
        return context.containsBean(BEFORE_SECURITY) ? filters.afterSecurity(order) : filters.ofAllRules(order);
    }

    @Bean(BEFORE_SECURITY)
    @ConditionalOnBean(name = SECURITY_FILTER)
    RateLimitWebFilter rateLimitFilterBeforeSecurity(RateLimitFilters filters) {
        return filters.beforeSecurity(SECURITY_FILTER_ORDER - DISTANCE);
    }
}
