package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.boot.autoconfigure.OnRateLimitsCondition;
import dev.ratelimit.spring.boot.autoconfigure.OnRateLimitsEnabled;
import dev.ratelimit.spring.boot.endpoint.RefusalHandlers;
import dev.ratelimit.spring.boot.spi.RequestExplainer;
import dev.ratelimit.spring.boot.version.Boot;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.operation.Explanations;
import dev.ratelimit.spring.rules.recording.RequestRecording;
import dev.ratelimit.spring.servlet.filter.OutermostFilter;
import dev.ratelimit.spring.servlet.filter.RateLimitFilter;
import dev.ratelimit.spring.servlet.filter.RateLimitFilters;
import dev.ratelimit.spring.servlet.filter.RefusalResolver;
import dev.ratelimit.spring.servlet.filter.ServletCallCharger;
import dev.ratelimit.spring.servlet.request.Dispatchers;
import dev.ratelimit.spring.servlet.request.ExplainedRequest;
import dev.ratelimit.spring.servlet.request.KeptForm;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import jakarta.servlet.DispatcherType;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.util.unit.DataSize;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.servlet.DispatcherServlet;

/** The filter, either before and after Spring Security or once without it, and what it knows of requests. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(DispatcherServlet.class)
@Conditional({OnRateLimitsEnabled.class, OnRateLimitsCondition.class})
class RateLimitFilterConfiguration {

    /**
     * The name of the only filter, or of the one after Spring Security. Names of beans are long to avoid conflicts with
     * those of the application.
     */
    static final String FILTER = "dev.ratelimit.filter";

    /** The name of the filter before Spring Security, if there are two stages. */
    static final String BEFORE_SECURITY = "dev.ratelimit.filterBeforeSecurity";

    /** The default order of Spring Security's filter chain: SecurityFilterProperties.DEFAULT_FILTER_ORDER. */
    private static final int SECURITY_FILTER_ORDER = -100;

    private static final int DISTANCE = 10;
    private static final String SECURITY_ORDER = "spring.security.filter.order";

    /** Of a form that is kept, at most: Tomcat's own bound. */
    private static final DataSize FORM_SIZE = DataSize.ofMegabytes(2);

    /** The bound of both servers. */
    private static final int FORM_FIELDS = 1_000;

    /** The name of the bean of Spring Security's filter. */
    private static final String SECURITY_FILTER = "springSecurityFilterChain";

    @Bean("dev.ratelimit.dispatchers")
    Dispatchers rateLimitDispatchers() {
        return new Dispatchers();
    }

    @Bean("dev.ratelimit.paths")
    ServletPaths rateLimitPaths(Dispatchers dispatchers) {
        return new ServletPaths(dispatchers);
    }

    @Bean("dev.ratelimit.stack")
    ServletStack rateLimitStack(
            ApplicationContext context,
            RateLimitProperties properties,
            Dispatchers dispatchers,
            ObjectProvider<Ticker> ticker) {
        return new ServletStack(context, properties, dispatchers, ticker.getIfAvailable(Ticker::system));
    }

    @Bean("dev.ratelimit.explainer")
    RequestExplainer rateLimitExplainer(
            ObjectProvider<Explanations> explanations, ServletPaths paths, ListableBeanFactory beans) {
        return (facts, user, showKeys) -> explanations
                .getObject()
                .of(
                        beans.containsBean(BEFORE_SECURITY)
                                ? new ServletWebRequest(ExplainedRequest.of(facts, null), paths)
                                : null,
                        new ServletWebRequest(ExplainedRequest.of(facts, user), paths),
                        List.of(),
                        showKeys);
    }

    @Bean("dev.ratelimit.filters")
    RateLimitFilters rateLimitFilters(
            RequestLimiter limiter,
            ServletPaths paths,
            ServletStack stack,
            ObjectProvider<CorsConfigurationSource> beans) {
        return new RateLimitFilters(limiter, paths, () -> corsSources(beans, stack));
    }

    /** First the sources of the application, such as Spring Security's, then those of the handlers. */
    private static List<CorsConfigurationSource> corsSources(
            ObjectProvider<CorsConfigurationSource> beans, ServletStack stack) {
        List<CorsConfigurationSource> sources = new ArrayList<>();
        // Spring MVC's own bean also asks the handlers, and is deprecated
        beans.orderedStream()
                .filter(source -> !source.getClass().getName().startsWith("org.springframework.web.servlet."))
                .forEach(sources::add);
        sources.add(request -> stack.endpoints().corsConfiguration(request));
        return sources;
    }

    @Bean("dev.ratelimit.callCharger")
    ServletCallCharger rateLimitCallCharger(RequestLimiter limiter, ServletPaths paths) {
        return new ServletCallCharger(limiter.calls(), paths);
    }

    @Bean("dev.ratelimit.refusalResolver")
    RefusalResolver rateLimitRefusalResolver(RateLimitFilters filters, ApplicationContext context) {
        return new RefusalResolver(filters, new RefusalHandlers(context));
    }

    @Bean(FILTER)
    FilterRegistrationBean<RateLimitFilter> rateLimitFilter(
            RateLimitFilters filters, WaitingRequests waiting, ApplicationContext context, Environment environment) {
        boolean stages = context.containsBean(BEFORE_SECURITY);
        return registration(stages ? filters.afterSecurity() : filters.ofAllRules(), waiting, environment, DISTANCE);
    }

    @Bean(BEFORE_SECURITY)
    @ConditionalOnBean(name = SECURITY_FILTER)
    FilterRegistrationBean<RateLimitFilter> rateLimitFilterBeforeSecurity(
            RateLimitFilters filters, WaitingRequests waiting, Environment environment) {
        return registration(filters.beforeSecurity(), waiting, environment, -DISTANCE);
    }

    @Bean("dev.ratelimit.outermostFilter")
    FilterRegistrationBean<OutermostFilter> rateLimitOutermostFilter(
            RateLimitFilters filters,
            ApplicationContext context,
            RateLimitProperties properties,
            ObjectProvider<OutcomeCounter> outcomes) {
        FilterRegistrationBean<OutermostFilter> registration = new FilterRegistrationBean<>(new OutermostFilter(
                filters,
                forms(context.getEnvironment()),
                RequestRecording.among(outcomes.stream()),
                properties.dependOnStatus(),
                Boot.isServer(context)));
        registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.ERROR);
        registration.setAsyncSupported(true);
        registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
        return registration;
    }

    /** The bounds of the server, as far as the configuration says them. */
    private static KeptForm.Limits forms(Environment environment) {
        DataSize length = environment.getProperty(
                "server.tomcat.max-http-form-post-size",
                DataSize.class,
                environment.getProperty("server.jetty.max-http-form-post-size", DataSize.class, FORM_SIZE));
        boolean unlimited = length.isNegative() || length.compareTo(FORM_SIZE) > 0;
        return new KeptForm.Limits(
                (int) (unlimited ? FORM_SIZE : length).toBytes(),
                environment.getProperty(
                        "server.tomcat.max-parameter-count",
                        Integer.class,
                        environment.getProperty("server.jetty.max-form-keys", Integer.class, FORM_FIELDS)));
    }

    private static FilterRegistrationBean<RateLimitFilter> registration(
            RateLimitFilter filter, WaitingRequests waiting, Environment environment, int distance) {
        FilterRegistrationBean<RateLimitFilter> registration = new FilterRegistrationBean<>(filter);
        if (waiting.arePossible()) {
            registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC);
        } else {
            registration.setDispatcherTypes(DispatcherType.REQUEST);
        }
        registration.setAsyncSupported(true);
        registration.setOrder(order(environment) + distance);
        return registration;
    }

    private static int order(Environment environment) {
        int order = environment.getProperty(SECURITY_ORDER, Integer.class, SECURITY_FILTER_ORDER);
        if (order < Integer.MIN_VALUE + DISTANCE || order > Integer.MAX_VALUE - DISTANCE) {
            throw new RateLimitConfigurationException(
                    SECURITY_ORDER,
                    Integer.toString(order),
                    "leave room for the filters of the rate limits: ten places before and after it");
        }
        return order;
    }
}
