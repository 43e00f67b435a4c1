package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.RejectionHandler;
import dev.ratelimit.spring.boot.method.LimitedBeans;
import dev.ratelimit.spring.boot.spi.LimitValidator;
import dev.ratelimit.spring.boot.spi.PolicyObserver;
import dev.ratelimit.spring.boot.spi.RequestExplainer;
import dev.ratelimit.spring.boot.spi.RequestFacts;
import dev.ratelimit.spring.boot.spi.StoreWarmUp;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.operation.RateLimitOperations;
import dev.ratelimit.spring.servlet.endpoint.Endpoints;
import dev.ratelimit.spring.servlet.endpoint.RouteSurvey;
import dev.ratelimit.spring.servlet.request.Dispatchers;
import dev.ratelimit.spring.servlet.request.ExplainedRequest;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import dev.ratelimit.spring.servlet.surroundings.FiltersAfterWait;
import dev.ratelimit.spring.servlet.surroundings.OtherFilters;
import dev.ratelimit.spring.servlet.surroundings.ServletWarnings;
import jakarta.servlet.Filter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.RegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.core.annotation.Order;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.filter.ForwardedHeaderFilter;
import org.springframework.web.filter.HiddenHttpMethodFilter;
import org.springframework.web.filter.UrlHandlerFilter;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerMapping;

/**
 * The rules in force. Those of the configuration are created with the bean, so that a mistake stops the start early;
 * those of annotations when all handlers are known, which is before the server accepts requests.
 */
final class ActiveRules implements SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(ActiveRules.class);

    /**
     * The name of the only filter, or of the one after Spring Security. Names of beans are long to avoid conflicts with
     * those of the application.
     */
    static final String FILTER = "dev.ratelimit.filter";

    /** The name of the filter before Spring Security, if there are two stages. */
    static final String BEFORE_SECURITY = "dev.ratelimit.filterBeforeSecurity";

    private static final String CONTEXT_PATH = "server.servlet.context-path";
    private static final String SERVLET_PATH = "spring.mvc.servlet.path";

    private final ApplicationContext context;
    private final RateLimitProperties properties;
    private final RequestRules rules;
    private final Dispatchers dispatchers = new Dispatchers();
    private volatile Endpoints endpoints;

    /**
     * Creates the rules of the configuration.
     *
     * @param store throws an {@link IllegalArgumentException} for a limit that the store cannot keep
     */
    ActiveRules(ApplicationContext context, RateLimitProperties properties, LimitValidator store) {
        this.context = context;
        this.properties = properties;
        this.rules =
                new RequestRules(properties, context, context.getEnvironment()::resolveRequiredPlaceholders, store);
        this.endpoints = new Endpoints(List.of(), dispatchers, (endpoint, handler) -> false, Ticker.system());
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (!properties.enabled()) {
            // with AOT, conditions are evaluated at build time, so this is logged only now
            log.info("No rate limits: ratelimit.enabled is false");
            return;
        }
        LimitedBeans beans = new LimitedBeans(context);
        endpoints = new Endpoints(
                handlerMappings(),
                dispatchers,
                (endpoint, handler) -> {
                    boolean annotated = rules.add(endpoint, handler.getBeanType(), handler.getMethod());
                    if (rules.limitCallsOf(handler.getBeanType(), handler.getMethod())) {
                        beans.checkHandler(handler);
                    }
                    return annotated;
                },
                ticker());
        beans.addTo(rules);
        rules.enforce(endpoints);
        rules.report(context.containsBean(BEFORE_SECURITY), property(CONTEXT_PATH), property(SERVLET_PATH));
        warnOfOthers(new ServletWarnings(
                context.getEnvironment(), !properties.trustedProxies().isEmpty()));
        tellOfStore();
        compareWithRoutesOnceRefreshed();
        String waiting = rules.firstToLetWait();
        if (waiting != null) {
            boolean early = context.containsBean(BEFORE_SECURITY) && rules.letWaitBeforeSecurity();
            FiltersAfterWait.check(
                    context, context.getBean(early ? BEFORE_SECURITY : FILTER, FilterRegistrationBean.class), waiting);
        }
    }

    /** Added now, it comes after the listeners of others, which may add routes. */
    private void compareWithRoutesOnceRefreshed() {
        if (context instanceof ConfigurableApplicationContext configurable) {
            configurable.addApplicationListener(
                    GenericApplicationListener.forEventType(ContextRefreshedEvent.class, event -> {
                        // the context of the actuator's own port is a child, whose events come here, too
                        if (event.getApplicationContext() == context) {
                            compareWithRoutes();
                        }
                    }));
        }
    }

    /** Warns about paths, methods and path variables that nothing in the application has, as far as it can be asked. */
    void compareWithRoutes() {
        if (properties.enabled() && context instanceof WebApplicationContext web && !RouteSurvey.isOfPart(web)) {
            rules.compareWith(
                    RouteSurvey.of(web, handlerMappings(), context.containsBean(BEFORE_SECURITY)),
                    property(CONTEXT_PATH),
                    property(SERVLET_PATH));
        }
    }

    private String property(String name) {
        return context.getEnvironment().getProperty(name, "");
    }

    private void warnOfOthers(ServletWarnings report) {
        report.warnOfContainer();
        report.warnOfRewriting(
                comesLater(UrlHandlerFilter.class), comesLater(HiddenHttpMethodFilter.class), firstStage());
        report.warnOfOtherDispatchers(otherDispatchers());
        report.warnOfForwardedHeaderFilter(forwardsBefore());
        if (!context.containsBean(BEFORE_SECURITY) && !OtherFilters.mayAuthenticate(context)) {
            rules.warnOfCallers();
        }
    }

    private void tellOfStore() {
        if (context.containsBean(RedisStoreConfiguration.CLIENT)) {
            rules.warnOfWholeShare();
        }
        context.getBeanProvider(StoreWarmUp.class).ifAvailable(warmUp -> warmUp.ask(rules.policiesInForce()));
        context.getBeanProvider(InMemoryStore.class).ifUnique(rules::reportMemory);
        context.getBeanProvider(PolicyObserver.class).forEach(observer -> observer.watch(rules.allNames()));
    }

    /**
     * Whether a filter of this type sees requests after the first stage. A filter without an order comes last; the
     * order of a registered filter is that of its registration.
     */
    private boolean comesLater(Class<? extends Filter> type) {
        List<FilterRegistrationBean<?>> registered = registrations()
                .filter(registration -> type.isInstance(registration.getFilter()))
                .toList();
        Stream<Ordered> alone = context.getBeansOfType(type, true, false).values().stream()
                .filter(filter -> registered.stream().noneMatch(registration -> registration.getFilter() == filter))
                .map(filter -> filter instanceof Ordered ordered ? ordered : () -> Integer.MAX_VALUE);
        int first = firstStage();
        return Stream.concat(registered.stream(), alone).anyMatch(filter -> filter.getOrder() >= first);
    }

    private Stream<FilterRegistrationBean<?>> registrations() {
        return Stream.of(context.getBeanNamesForType(FilterRegistrationBean.class, true, false))
                .map(name -> context.getBean(name, FilterRegistrationBean.class));
    }

    private int firstStage() {
        String before = BEFORE_SECURITY;
        return order(context.containsBean(before) ? before : FILTER);
    }

    private int lastStage() {
        return order(FILTER);
    }

    private int order(String registration) {
        return context.getBean(registration, FilterRegistrationBean.class).getOrder();
    }

    /** The servlets of Spring MVC with their own controllers, which are unknown here. */
    private List<String> otherDispatchers() {
        return context.getBeansOfType(ServletRegistrationBean.class, true, false).values().stream()
                .filter(registration -> registration.getServlet() instanceof DispatcherServlet dispatcher
                        && dispatcher.getWebApplicationContext() != null
                        && dispatcher.getWebApplicationContext() != context)
                .map(RegistrationBean::toString)
                .toList();
    }

    /** Whether a filter replaces the client's address before rate limits see the request. */
    private boolean forwardsBefore() {
        int last = lastStage();
        boolean registered = registrations()
                .anyMatch(filter -> filter.getFilter() instanceof ForwardedHeaderFilter && filter.getOrder() <= last);
        return registered
                || Stream.of(context.getBeanNamesForType(ForwardedHeaderFilter.class, true, false))
                        .map(name -> context.findAnnotationOnBean(name, Order.class))
                        .anyMatch(order -> order != null && order.value() <= last);
    }

    private List<HandlerMapping> handlerMappings() {
        List<HandlerMapping> mappings = new ArrayList<>(
                BeanFactoryUtils.beansOfTypeIncludingAncestors(context, HandlerMapping.class, true, false)
                        .values());
        AnnotationAwareOrderComparator.sort(mappings);
        return mappings;
    }

    /** Creates a limiter that charges requests to these rules. */
    RequestLimiter limiter(WaitingRequests waiting, OutcomeCounter outcomes, @Nullable RejectionHandler handler) {
        return new RequestLimiter(rules, properties, waiting, outcomes, ticker(), handler);
    }

    /** Creates the queues of requests that wait for permits of these rules. */
    WaitingRequests waiting(RateLimitStore store) {
        Scheduler scheduler = context.getBeanProvider(Scheduler.class).getIfAvailable(() -> Scheduler.of(ticker()));
        return new WaitingRequests(rules, store, ticker(), scheduler);
    }

    private Ticker ticker() {
        return context.getBeanProvider(Ticker.class).getIfAvailable(Ticker::system);
    }

    /** What applications and operators do with these rules. */
    RateLimitOperations operations(RateLimitStore store) {
        return new RateLimitOperations(rules, store);
    }

    /** Explains requests to the filters of these rules. */
    RequestExplainer explainer(RateLimitOperations operations) {
        return (facts, user, showKeys) -> explain(operations, facts, user, showKeys);
    }

    private Map<String, Object> explain(
            RateLimitOperations operations, RequestFacts facts, @Nullable String user, boolean showKeys) {
        ServletWebRequest after = new ServletWebRequest(ExplainedRequest.of(facts, user), paths());
        ServletWebRequest before = context.containsBean(BEFORE_SECURITY)
                ? new ServletWebRequest(ExplainedRequest.of(facts, null), paths())
                : null;
        return operations.explain(before, after, showKeys);
    }

    ServletPaths paths() {
        return new ServletPaths(dispatchers);
    }

    Endpoints endpoints() {
        return endpoints;
    }
}
