package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.boot.actuate.EndpointSurroundings;
import dev.ratelimit.spring.boot.endpoint.AnnotationCheck;
import dev.ratelimit.spring.boot.method.LimitedBeans;
import dev.ratelimit.spring.boot.spi.PolicyObserver;
import dev.ratelimit.spring.boot.spi.StoreWarmUp;
import dev.ratelimit.spring.boot.spi.WebStack;
import dev.ratelimit.spring.rules.config.AnnotatedRules;
import dev.ratelimit.spring.rules.config.Mistakes;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.path.Routes;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.web.method.HandlerMethod;

/**
 * Completes the rules with those of annotations, and puts them in force, when all handlers are known, which is before
 * the server accepts requests. Reports what is limited, and what is probably unintended.
 */
final class RulesAtStart implements SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(RulesAtStart.class);

    private final ApplicationContext context;
    private final RateLimitProperties properties;
    private final RequestRules rules;
    private final WebStack stack;

    RulesAtStart(ApplicationContext context, RateLimitProperties properties, RequestRules rules, WebStack stack) {
        this.context = context;
        this.properties = properties;
        this.rules = rules;
        this.stack = stack;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (!properties.enabled()) {
            // with AOT, conditions are evaluated at build time, so this is logged only now
            log.info("No rate limits: ratelimit.enabled is false");
            return;
        }
        LimitedBeans beans = new LimitedBeans(context);
        Mistakes mistakes = new Mistakes();
        context.getBeanProvider(AnnotationCheck.class).ifAvailable(check -> check.addTo(mistakes));
        EndpointResolver endpoints = stack.findEndpoints((endpoint, handler) -> {
            mistakes.collect(handler.getBeanType(), handler.getMethod(), () -> add(endpoint, handler, beans));
            return AnnotatedRules.concern(handler.getBeanType(), handler.getMethod());
        });
        beans.addTo(rules, mistakes);
        mistakes.report();
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
        String waiting = rules.firstToLetWait();
        if (waiting != null) {
            stack.checkWaiting(waiting, rules.letWaitBeforeSecurity());
        }
    }

    private void add(Endpoint endpoint, HandlerMethod handler, LimitedBeans beans) {
        rules.add(endpoint, handler.getBeanType(), handler.getMethod());
        if (rules.limitCallsOf(handler.getBeanType(), handler.getMethod())) {
            stack.checkCalls(handler);
            beans.checkHandler(handler);
        }
    }

    private void report() {
        rules.report(stack.hasStages(), stack.contextPath(), stack.handlerPath());
        stack.warnOfSurroundings();
        if (!stack.hasStages() && !stack.mayAuthenticate()) {
            rules.warnOfCallers();
            context.getBeanProvider(EndpointSurroundings.class)
                    .ifAvailable(endpoint -> warnOfChanges(endpoint.writable()));
        }
        if (context.containsBean(RemoteStoreConfiguration.EVENTS)) {
            rules.warnOfWholeShare();
        }
        context.getBeanProvider(StoreWarmUp.class).ifAvailable(warmUp -> warmUp.ask(rules.policiesInForce()));
        context.getBeanProvider(InMemoryStore.class).ifUnique(rules::reportMemory);
        context.getBeanProvider(PolicyObserver.class).forEach(observer -> observer.watch(rules.allNames()));
    }

    private static void warnOfChanges(boolean possible) {
        if (possible) {
            log.warn("Anybody who reaches the ratelimits endpoint of the actuator can change every rate limit:"
                    + " management.endpoint.ratelimits.access is unrestricted, and neither Spring Security nor a filter"
                    + " of the application authenticates callers. Protect the endpoint, or write access: read-only");
        }
    }

    /** Warns about paths, methods and path variables that nothing in the application has, as far as it can be asked. */
    void compareWithRoutes() {
        Routes routes = properties.enabled() ? stack.routes() : null;
        if (routes != null) {
            rules.compareWith(routes, stack.contextPath(), stack.handlerPath());
        }
    }
}
