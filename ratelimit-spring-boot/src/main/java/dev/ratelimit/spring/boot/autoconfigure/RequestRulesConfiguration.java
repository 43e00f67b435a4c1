package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.RejectionHandler;
import dev.ratelimit.spring.boot.spi.LimitValidator;
import dev.ratelimit.spring.boot.spi.StoreDecorator;
import dev.ratelimit.spring.boot.spi.WebStack;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.operation.KeyDisplay;
import dev.ratelimit.spring.rules.operation.QueuedEvents;
import dev.ratelimit.spring.rules.operation.RefreshedConfiguration;
import dev.ratelimit.spring.rules.operation.RefusalEvents;
import dev.ratelimit.spring.rules.trial.Trials;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** The rules, and what decides requests by them, if anything is limited and there are requests to limit. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(WebStack.class)
@Conditional({OnRateLimitsEnabled.class, OnRateLimitsCondition.class})
class RequestRulesConfiguration {

    /** Of the actuator endpoint, which may be missing. */
    private static final String SHOW_KEYS = "management.endpoint.ratelimits.show-keys";

    /** Those of the configuration; those of annotations are added at the end of the start. */
    @Bean("dev.ratelimit.rules")
    RequestRules rateLimitRules(
            ApplicationContext context, RateLimitProperties properties, ObjectProvider<LimitValidator> store) {
        return new RequestRules(
                properties,
                context,
                context.getEnvironment()::resolveRequiredPlaceholders,
                store.getIfAvailable(() -> limit -> {}));
    }

    @Bean("dev.ratelimit.rulesAtStart")
    RulesAtStart rateLimitRulesAtStart(
            ApplicationContext context, RateLimitProperties properties, RequestRules rules, WebStack stack) {
        return new RulesAtStart(context, properties, rules, stack);
    }

    @Bean("dev.ratelimit.configurationRefresh")
    ConfigurationRefresh rateLimitConfigurationRefresh(
            Environment environment, ObjectProvider<RefreshedConfiguration> configuration, RulesAtStart start) {
        return new ConfigurationRefresh(environment, configuration, start);
    }

    @Bean("dev.ratelimit.requestLimiter")
    RequestLimiter rateLimitRequestLimiter(
            RequestRules rules,
            RateLimitProperties properties,
            WaitingRequests waiting,
            ObjectProvider<OutcomeCounter> outcomes,
            ObjectProvider<RejectionHandler> handler) {
        return new RequestLimiter(
                rules,
                properties,
                waiting,
                OutcomeCounter.of(outcomes.orderedStream().toList()),
                waiting.ticker(),
                handler.getIfAvailable());
    }

    @Bean("dev.ratelimit.trials")
    Trials rateLimitTrials(RequestRules rules, ObjectProvider<Ticker> ticker) {
        return new Trials(rules, ticker.getIfAvailable(Ticker::system));
    }

    /** Whether events may have keys as their plain values. */
    static boolean showsKeysToAll(Environment environment) {
        return BoundProperty.of(environment, SHOW_KEYS, "never").equalsIgnoreCase("always");
    }

    /** Decided by the value at run time, also if code was generated ahead of time. */
    @Bean("dev.ratelimit.refusalEvents")
    OutcomeCounter rateLimitRefusalEvents(
            RateLimitProperties properties,
            RequestRules rules,
            KeyDisplay keys,
            QueuedEvents events,
            ApplicationContext context) {
        boolean showKeys = showsKeysToAll(context.getEnvironment());
        return properties.events().refusals()
                ? new RefusalEvents(
                        events,
                        properties.events().maxPerSecond(),
                        context.getBeanProvider(Ticker.class).getIfAvailable(Ticker::system),
                        (policy, key) -> keys.list(rules.inForce().byPolicy().get(policy), key, showKeys))
                : OutcomeCounter.NONE;
    }

    @Bean("dev.ratelimit.waitingRequests")
    WaitingRequests rateLimitWaitingRequests(
            RequestRules rules,
            RateLimitStore store,
            ObjectProvider<StoreDecorator> decorators,
            ObjectProvider<Ticker> ticker,
            ObjectProvider<Scheduler> scheduler) {
        RateLimitStore decorated = store;
        for (StoreDecorator decorator : decorators) {
            decorated = decorator.apply(decorated);
        }
        Ticker time = ticker.getIfAvailable(Ticker::system);
        return new WaitingRequests(rules, decorated, time, scheduler.getIfAvailable(() -> Scheduler.of(time)));
    }

    @Bean("dev.ratelimit.waitingLifecycle")
    WaitingLifecycle rateLimitWaitingLifecycle(WaitingRequests waiting) {
        return new WaitingLifecycle(waiting);
    }
}
