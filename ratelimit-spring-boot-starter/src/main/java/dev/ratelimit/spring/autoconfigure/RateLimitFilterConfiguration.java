package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RejectionHandler;
import dev.ratelimit.spring.Stage;
import dev.ratelimit.spring.config.LimitCheck;
import dev.ratelimit.spring.config.RateLimitProperties;
import dev.ratelimit.spring.web.Answers;
import dev.ratelimit.spring.web.Outcomes;
import dev.ratelimit.spring.web.RateLimitFilter;
import jakarta.servlet.DispatcherType;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.servlet.DispatcherServlet;

/** The filter, before and after Spring Security or once without it, and the rules that it enforces. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(DispatcherServlet.class)
@ConditionalOnBooleanProperty(name = "ratelimit.enabled", matchIfMissing = true)
@Conditional(OnRateLimitsCondition.class)
class RateLimitFilterConfiguration {

    /** Where Spring Security's chain runs, if nothing else is said: SecurityFilterProperties.DEFAULT_FILTER_ORDER. */
    private static final int SECURITY_FILTER_ORDER = -100;

    private static final int DISTANCE = 10;
    private static final String SECURITY_ORDER = "spring.security.filter.order";

    /** The bean that is there where there are two stages. */
    static final String BEFORE_SECURITY = "rateLimitFilterBeforeSecurity";

    /** The bean that Spring Security's filter is. */
    private static final String SECURITY_FILTER = "springSecurityFilterChain";

    @Bean
    ActiveRules rateLimitRules(
            ApplicationContext context, RateLimitProperties properties, ObjectProvider<LimitCheck> store) {
        return new ActiveRules(context, properties, store.getIfAvailable(() -> limit -> {}));
    }

    @Bean
    Answers rateLimitAnswers(
            RateLimitProperties properties,
            ActiveRules rules,
            ObjectProvider<RejectionHandler> handler,
            ObjectProvider<CorsConfigurationSource> corsSources) {
        return RateLimitFilters.answers(properties, rules, handler.getIfAvailable(), corsSources);
    }

    @Bean
    RateLimitFilters rateLimitFilters(
            ActiveRules rules,
            RateLimitStore store,
            Answers answers,
            ObjectProvider<StoreDecorator> decorators,
            ObjectProvider<Outcomes> outcomes) {
        RateLimitStore decorated = store;
        for (StoreDecorator decorator : decorators) {
            decorated = decorator.apply(decorated);
        }
        return new RateLimitFilters(rules, decorated, answers, outcomes.getIfAvailable(() -> (policy, outcome) -> {}));
    }

    @Bean
    FilterRegistrationBean<RateLimitFilter> rateLimitFilter(
            RateLimitFilters filters, ApplicationContext context, Environment environment) {
        boolean stages = context.containsBean(BEFORE_SECURITY);
        return registration(filters.at(stages ? Stage.AFTER_SECURITY : Stage.AUTO), environment, DISTANCE);
    }

    @Bean(BEFORE_SECURITY)
    @ConditionalOnBean(name = SECURITY_FILTER)
    FilterRegistrationBean<RateLimitFilter> rateLimitFilterBeforeSecurity(
            RateLimitFilters filters, Environment environment) {
        return registration(filters.at(Stage.BEFORE_SECURITY), environment, -DISTANCE);
    }

    private static FilterRegistrationBean<RateLimitFilter> registration(
            RateLimitFilter filter, Environment environment, int distance) {
        FilterRegistrationBean<RateLimitFilter> registration = new FilterRegistrationBean<>(filter);
        registration.setDispatcherTypes(DispatcherType.REQUEST);
        registration.setAsyncSupported(true);
        registration.setOrder(order(environment) + distance);
        return registration;
    }

    private static int order(Environment environment) {
        int order = environment.getProperty(SECURITY_ORDER, Integer.class, SECURITY_FILTER_ORDER);
        if (order < Integer.MIN_VALUE + DISTANCE || order > Integer.MAX_VALUE - DISTANCE) {
            throw new RateLimitConfigurationException(
                    SECURITY_ORDER, Integer.toString(order), "leave ten places before and after it, for the limits");
        }
        return order;
    }
}
