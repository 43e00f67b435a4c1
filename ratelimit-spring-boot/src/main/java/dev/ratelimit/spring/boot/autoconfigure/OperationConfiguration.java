package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.boot.spi.ChangeObserver;
import dev.ratelimit.spring.boot.spi.LimitValidator;
import dev.ratelimit.spring.boot.spi.Operator;
import dev.ratelimit.spring.boot.spi.PolicyObserver;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.history.ChangeHistory;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.OperatorActions;
import dev.ratelimit.spring.rules.operation.Explanations;
import dev.ratelimit.spring.rules.operation.KeyBudgets;
import dev.ratelimit.spring.rules.operation.KeyDisplay;
import dev.ratelimit.spring.rules.operation.LiveChanges;
import dev.ratelimit.spring.rules.operation.LivePolicies;
import dev.ratelimit.spring.rules.operation.QueuedEvents;
import dev.ratelimit.spring.rules.operation.RefreshedConfiguration;
import dev.ratelimit.spring.rules.operation.TrialJournal;
import dev.ratelimit.spring.rules.override.KeyOverrides;
import dev.ratelimit.spring.rules.override.OverrideReport;
import dev.ratelimit.spring.rules.trial.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * What operators and the application do with policies at run time, and who is told of that. Lazy, so that mistakes in
 * policies that are disabled do not stop the start.
 */
@Configuration(proxyBeanMethods = false)
@Lazy
class OperationConfiguration {

    /**
     * What operators change.
     *
     * @param rules those of requests or, if no request is limited, all that are configured
     */
    record OperatedRules(RequestRules rules) {}

    static final String LIVE_CHANGES = "dev.ratelimit.liveChanges";

    static final String KEY_OVERRIDES = "dev.ratelimit.keyOverrides";

    private final Ticker ticker;
    private final Scheduler scheduler;

    OperationConfiguration(ObjectProvider<Ticker> ticker, ObjectProvider<Scheduler> scheduler) {
        this.ticker = ticker.getIfAvailable(Ticker::system);
        this.scheduler = scheduler.getIfAvailable(() -> Scheduler.of(this.ticker));
    }

    @Bean("dev.ratelimit.policies")
    RateLimitPolicies rateLimitPolicies(
            KeyBudgets budgets,
            LiveChanges changes,
            KeyOverrides overrides,
            TrialJournal trials,
            ChangeHistory history) {
        return new LivePolicies(budgets, changes, overrides, trials, history);
    }

    @Bean("dev.ratelimit.operatedRules")
    OperatedRules rateLimitOperatedRules(
            ObjectProvider<RequestRules> rules,
            RateLimitProperties properties,
            ObjectProvider<LimitValidator> store,
            ApplicationContext context) {
        RequestRules active = properties.enabled() ? rules.getIfAvailable() : null;
        return new OperatedRules(
                active != null
                        ? active
                        : RequestRules.withoutRequests(
                                properties,
                                context,
                                context.getEnvironment()::resolveRequiredPlaceholders,
                                store.getIfAvailable(() -> limit -> {})));
    }

    @Bean("dev.ratelimit.operatorActions")
    OperatorActions rateLimitOperatorActions(Operator operator, QueuedEvents events, ApplicationContext context) {
        List<BiConsumer<String, Map<String, Object>>> observers = new ArrayList<>();
        List<Consumer<Set<String>>> watchers = new ArrayList<>();
        context.getBeanProvider(WaitingRequests.class).ifAvailable(requests -> {
            observers.add((policy, what) -> requests.wake(policy));
            watchers.add(names -> requests.policies().forEach(requests::wake));
        });
        context.getBeanProvider(ChangeObserver.class).forEach(observers::add);
        watchers.add(names -> context.getBeanProvider(PolicyObserver.class).forEach(observer -> observer.watch(names)));
        boolean showKeys = RequestRulesConfiguration.showsKeysToAll(context.getEnvironment());
        return new OperatorActions(operator::name, observers, watchers, events::publish, showKeys);
    }

    @Bean("dev.ratelimit.keyDisplay")
    KeyDisplay rateLimitKeyDisplay() {
        return new KeyDisplay();
    }

    @Bean("dev.ratelimit.keyBudgets")
    KeyBudgets rateLimitKeyBudgets(
            OperatedRules operated,
            RateLimitStore store,
            KeyDisplay keys,
            OverrideReport overrides,
            OperatorActions actions) {
        return new KeyBudgets(operated.rules(), store, keys, overrides, actions);
    }

    @Bean("dev.ratelimit.changeStore")
    ChangeStore rateLimitChangeStore() {
        return new ChangeStore(ticker);
    }

    @Bean("dev.ratelimit.changeHistory")
    ChangeHistory rateLimitChangeHistory(OperatedRules operated, ChangeStore changes) {
        return new ChangeHistory(operated.rules(), changes);
    }

    @Bean(LIVE_CHANGES)
    LiveChanges rateLimitLiveChanges(OperatedRules operated, ChangeStore changes, OperatorActions actions) {
        return new LiveChanges(operated.rules(), changes, scheduler, actions);
    }

    @Bean(KEY_OVERRIDES)
    KeyOverrides rateLimitKeyOverrides(
            OperatedRules operated, ChangeStore changes, KeyDisplay keys, OperatorActions actions) {
        return new KeyOverrides(operated.rules(), changes, scheduler, keys::hash, actions);
    }

    @Bean("dev.ratelimit.overrideReport")
    OverrideReport rateLimitOverrideReport(KeyOverrides overrides) {
        return new OverrideReport(overrides);
    }

    @Bean("dev.ratelimit.explanations")
    Explanations rateLimitExplanations(
            OperatedRules operated, RateLimitStore store, KeyDisplay keys, OverrideReport overrides) {
        return new Explanations(operated.rules(), store, keys, overrides);
    }

    @Bean("dev.ratelimit.trialJournal")
    TrialJournal rateLimitTrialJournal(
            OperatedRules operated, ObjectProvider<Trials> trials, KeyDisplay keys, OperatorActions actions) {
        RequestRules rules = operated.rules();
        return new TrialJournal(rules, trials.getIfAvailable(() -> new Trials(rules, ticker)), keys, actions);
    }

    @Bean("dev.ratelimit.refreshedConfiguration")
    RefreshedConfiguration rateLimitRefreshedConfiguration(
            OperatedRules operated, LiveChanges changes, OperatorActions actions) {
        return new RefreshedConfiguration(operated.rules(), changes, actions);
    }
}
