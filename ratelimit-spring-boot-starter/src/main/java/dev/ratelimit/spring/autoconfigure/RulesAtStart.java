package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.boot.method.LimitedBeans;
import dev.ratelimit.spring.boot.spi.PolicyObserver;
import dev.ratelimit.spring.boot.spi.StoreWarmUp;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.servlet.endpoint.Endpoints;
import dev.ratelimit.spring.servlet.endpoint.RouteSurvey;
import dev.ratelimit.spring.servlet.request.Dispatchers;
import dev.ratelimit.spring.servlet.surroundings.FiltersAfterWait;
import dev.ratelimit.spring.servlet.surroundings.OtherFilters;
import dev.ratelimit.spring.servlet.surroundings.ServletWarnings;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.HandlerMapping;

/**
 * Completes the rules with those of annotations, and puts them in force, when all handlers are known, which is before
 * the server accepts requests. Reports what is limited, and what is probably unintended.
 */
final class RulesAtStart implements SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(RulesAtStart.class);

    private static final String CONTEXT_PATH = "server.servlet.context-path";
    private static final String SERVLET_PATH = "spring.mvc.servlet.path";

    private final ApplicationContext context;
    private final RateLimitProperties properties;
    private final RequestRules rules;
    private final Dispatchers dispatchers;
    private final Ticker ticker;
    private volatile Endpoints endpoints;

    RulesAtStart(
            ApplicationContext context,
            RateLimitProperties properties,
            RequestRules rules,
            Dispatchers dispatchers,
            Ticker ticker) {
        this.context = context;
        this.properties = properties;
        this.rules = rules;
        this.dispatchers = dispatchers;
        this.ticker = ticker;
        this.endpoints = new Endpoints(List.of(), dispatchers, (endpoint, handler) -> false, ticker);
    }

    /** The endpoints of the application; none before they are known. */
    Endpoints endpoints() {
        return endpoints;
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
                ticker);
        beans.addTo(rules);
        rules.enforce(endpoints);
        report();
        if (context instanceof ConfigurableApplicationContext configurable) {
            // added now, it comes after the listeners of others, which may add routes
            configurable.addApplicationListener(
                    GenericApplicationListener.forEventType(ContextRefreshedEvent.class, event -> {
                        // the context of the actuator's own port is a child, whose events come here, too
                        if (event.getApplicationContext() == context) {
                            compareWithRoutes();
                        }
                    }));
        }
        checkFiltersAfterWait();
    }

    private void report() {
        rules.report(haveStages(), property(CONTEXT_PATH), property(SERVLET_PATH));
        boolean proxies = !properties.trustedProxies().isEmpty();
        new ServletWarnings(
                        context, proxies, firstFilter().getOrder(), lastFilter().getOrder())
                .log();
        if (!haveStages() && !OtherFilters.mayAuthenticate(context)) {
            rules.warnOfCallers();
        }
        if (context.containsBean(RedisStoreConfiguration.CLIENT)) {
            rules.warnOfWholeShare();
        }
        context.getBeanProvider(StoreWarmUp.class).ifAvailable(warmUp -> warmUp.ask(rules.policiesInForce()));
        context.getBeanProvider(InMemoryStore.class).ifUnique(rules::reportMemory);
        context.getBeanProvider(PolicyObserver.class).forEach(observer -> observer.watch(rules.allNames()));
    }

    /** Warns about paths, methods and path variables that nothing in the application has, as far as it can be asked. */
    void compareWithRoutes() {
        if (properties.enabled() && context instanceof WebApplicationContext web && !RouteSurvey.isOfPart(web)) {
            rules.compareWith(
                    RouteSurvey.of(web, handlerMappings(), haveStages()),
                    property(CONTEXT_PATH),
                    property(SERVLET_PATH));
        }
    }

    private void checkFiltersAfterWait() {
        String waiting = rules.firstToLetWait();
        if (waiting != null) {
            FiltersAfterWait.check(context, rules.letWaitBeforeSecurity() ? firstFilter() : lastFilter(), waiting);
        }
    }

    private String property(String name) {
        return context.getEnvironment().getProperty(name, "");
    }

    /** Whether Spring Security runs between two stages. */
    private boolean haveStages() {
        return context.containsBean(RateLimitFilterConfiguration.BEFORE_SECURITY);
    }

    private FilterRegistrationBean<?> firstFilter() {
        return haveStages()
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
