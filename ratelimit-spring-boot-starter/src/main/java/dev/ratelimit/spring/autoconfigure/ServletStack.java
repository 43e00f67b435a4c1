package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.boot.spi.WebStack;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.path.Routes;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.servlet.endpoint.Endpoints;
import dev.ratelimit.spring.servlet.endpoint.RouteSurvey;
import dev.ratelimit.spring.servlet.request.Dispatchers;
import dev.ratelimit.spring.servlet.surroundings.FiltersAfterWait;
import dev.ratelimit.spring.servlet.surroundings.OtherFilters;
import dev.ratelimit.spring.servlet.surroundings.ServletWarnings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;

/** An application with Spring MVC. */
final class ServletStack implements WebStack {

    private static final String CONTEXT_PATH = "server.servlet.context-path";
    private static final String SERVLET_PATH = "spring.mvc.servlet.path";

    private final ApplicationContext context;
    private final RateLimitProperties properties;
    private final Dispatchers dispatchers;
    private final Ticker ticker;
    private volatile Endpoints endpoints;

    ServletStack(ApplicationContext context, RateLimitProperties properties, Dispatchers dispatchers, Ticker ticker) {
        this.context = context;
        this.properties = properties;
        this.dispatchers = dispatchers;
        this.ticker = ticker;
        this.endpoints = new Endpoints(List.of(), dispatchers, (endpoint, handler) -> false, ticker);
    }

    /** The endpoints of the application; none before they are known. */
    Endpoints endpoints() {
        return endpoints;
    }

    @Override
    public EndpointResolver findEndpoints(BiPredicate<Endpoint, HandlerMethod> annotations) {
        boolean routes = context.containsBean(RateLimitGatewayMvcAutoConfiguration.ROUTES);
        Endpoints found = new Endpoints(handlerMappings(), dispatchers, annotations, routes, ticker);
        endpoints = found;
        return found;
    }

    @Override
    public boolean hasStages() {
        return context.containsBean(RateLimitFilterConfiguration.BEFORE_SECURITY);
    }

    @Override
    public String contextPath() {
        return property(CONTEXT_PATH);
    }

    @Override
    public String handlerPath() {
        return property(SERVLET_PATH);
    }

    private String property(String name) {
        return context.getEnvironment().getProperty(name, "");
    }

    @Override
    public boolean mayAuthenticate() {
        return OtherFilters.mayAuthenticate(context);
    }

    @Override
    public void warnOfSurroundings() {
        boolean proxies = !properties.trustedProxies().isEmpty();
        new ServletWarnings(
                        context, proxies, firstFilter().getOrder(), lastFilter().getOrder())
                .log();
    }

    @Override
    public void checkWaiting(String policy, boolean beforeSecurity) {
        FiltersAfterWait.check(context, beforeSecurity ? firstFilter() : lastFilter(), policy);
    }

    @Override
    public @Nullable Routes routes() {
        return context instanceof WebApplicationContext web && !RouteSurvey.isOfPart(web)
                ? RouteSurvey.of(web, handlerMappings(), hasStages())
                : null;
    }

    private FilterRegistrationBean<?> firstFilter() {
        return hasStages()
                ? context.getBean(RateLimitFilterConfiguration.BEFORE_SECURITY, FilterRegistrationBean.class)
                : lastFilter();
    }

    private FilterRegistrationBean<?> lastFilter() {
        return context.getBean(RateLimitFilterConfiguration.FILTER, FilterRegistrationBean.class);
    }

    private List<HandlerMapping> handlerMappings() {
        List<HandlerMapping> mappings = new ArrayList<>(
                BeanFactoryUtils.beansOfTypeIncludingAncestors(context, HandlerMapping.class, true, false)
                        .values());
        AnnotationAwareOrderComparator.sort(mappings);
        return mappings;
    }
}
