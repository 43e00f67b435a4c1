package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.boot.actuate.EndpointArguments;
import dev.ratelimit.spring.boot.actuate.EndpointSurroundings;
import dev.ratelimit.spring.boot.actuate.HistoryEndpoint;
import dev.ratelimit.spring.boot.actuate.InstanceName;
import dev.ratelimit.spring.boot.actuate.OverridesEndpoint;
import dev.ratelimit.spring.boot.actuate.PoliciesEndpoint;
import dev.ratelimit.spring.boot.actuate.QuestionsEndpoint;
import dev.ratelimit.spring.boot.actuate.RateLimitsEndpoint;
import dev.ratelimit.spring.boot.actuate.RateLimitsEndpointProperties;
import dev.ratelimit.spring.boot.actuate.RecordingEndpoint;
import dev.ratelimit.spring.boot.actuate.TrialsEndpoint;
import dev.ratelimit.spring.boot.autoconfigure.OperationConfiguration.OperatedRules;
import dev.ratelimit.spring.boot.spi.Operator;
import dev.ratelimit.spring.boot.spi.RequestExplainer;
import dev.ratelimit.spring.boot.spi.StoreReport;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.history.ChangeHistory;
import dev.ratelimit.spring.rules.operation.CallerReport;
import dev.ratelimit.spring.rules.operation.KeyBudgets;
import dev.ratelimit.spring.rules.operation.KeyDisplay;
import dev.ratelimit.spring.rules.operation.LiveChanges;
import dev.ratelimit.spring.rules.operation.PolicyReport;
import dev.ratelimit.spring.rules.operation.RefreshedConfiguration;
import dev.ratelimit.spring.rules.operation.TrialJournal;
import dev.ratelimit.spring.rules.override.OverrideReport;
import dev.ratelimit.spring.rules.recording.RequestRecording;
import dev.ratelimit.spring.rules.traffic.Traffic;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** The actuator endpoint and the counts that it shows, if it is exposed. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(RequestRules.class)
@ConditionalOnAvailableEndpoint(endpoint = RateLimitsEndpoint.class)
@EnableConfigurationProperties(RateLimitsEndpointProperties.class)
class RateLimitsEndpointConfiguration {

    private final RequestRules rules;
    private final KeyDisplay keys;
    private final LiveChanges changes;
    private final OverrideReport overrides;
    private final TrialJournal trials;

    RateLimitsEndpointConfiguration(
            OperatedRules operated,
            KeyDisplay keys,
            LiveChanges changes,
            OverrideReport overrides,
            TrialJournal trials) {
        this.rules = operated.rules();
        this.keys = keys;
        this.changes = changes;
        this.overrides = overrides;
        this.trials = trials;
    }

    @Bean("dev.ratelimit.traffic")
    static Traffic rateLimitTraffic(ObjectProvider<Scheduler> scheduler, ObjectProvider<Ticker> ticker) {
        Ticker clock = ticker.getIfAvailable(Ticker::system);
        return new Traffic(scheduler.getIfAvailable(() -> Scheduler.of(clock)), clock);
    }

    /** Decided by the value at run time, also if code was generated ahead of time. */
    @Bean("dev.ratelimit.recording")
    static OutcomeCounter rateLimitRecording(RateLimitProperties properties, ObjectProvider<Ticker> ticker) {
        RateLimitProperties.Recording recording = properties.recording();
        return recording.enabled()
                ? new RequestRecording(
                        ticker.getIfAvailable(Ticker::system), recording.maxRequests(), recording.share())
                : OutcomeCounter.NONE;
    }

    /** Of a store that has none of its own. */
    @Bean("dev.ratelimit.storeReport")
    @ConditionalOnMissingBean(StoreReport.class)
    StoreReport rateLimitStoreReport(RateLimitStore store) {
        return () -> Map.of("type", store instanceof InMemoryStore ? "memory" : "custom", "available", true);
    }

    @Bean("dev.ratelimit.endpointArguments")
    static EndpointArguments rateLimitEndpointArguments(
            Operator operator, ObjectProvider<RateLimitsEndpoint> endpoint) {
        return new EndpointArguments(operator, endpoint::getObject);
    }

    @Bean("dev.ratelimit.endpointSurroundings")
    EndpointSurroundings rateLimitEndpointSurroundings(
            StoreReport store, Environment environment, ObjectProvider<EndpointAccessResolver> access) {
        EndpointAccessResolver resolver = access.getIfAvailable();
        boolean writable = resolver != null
                && resolver.accessFor(EndpointId.of(RateLimitsEndpoint.ID), Access.READ_ONLY) == Access.UNRESTRICTED;
        return new EndpointSurroundings(store, new InstanceName(environment), writable);
    }

    @Bean("dev.ratelimit.policiesEndpoint")
    PoliciesEndpoint rateLimitPoliciesEndpoint(
            Traffic traffic,
            ObjectProvider<WaitingRequests> waiting,
            KeyBudgets budgets,
            RefreshedConfiguration configuration,
            EndpointSurroundings surroundings) {
        return new PoliciesEndpoint(
                new PolicyReport(rules, changes, overrides, trials, keys, traffic, waiting.getIfAvailable()),
                changes,
                budgets,
                configuration,
                surroundings);
    }

    @Bean("dev.ratelimit.questionsEndpoint")
    QuestionsEndpoint rateLimitQuestionsEndpoint(RequestExplainer explainer, RateLimitStore store, Traffic traffic) {
        return new QuestionsEndpoint(
                explainer,
                (caller, showKeys) ->
                        new CallerReport(rules.inForce(), store, traffic, keys, overrides, showKeys).of(caller));
    }

    @Bean("dev.ratelimit.endpoint")
    RateLimitsEndpoint rateLimitsEndpoint(
            PoliciesEndpoint policies,
            ChangeHistory history,
            QuestionsEndpoint questions,
            ObjectProvider<OutcomeCounter> outcomes,
            RateLimitsEndpointProperties properties) {
        return new RateLimitsEndpoint(
                policies,
                new OverridesEndpoint(overrides),
                new TrialsEndpoint(trials),
                new HistoryEndpoint(history, changes, overrides.overrides()),
                questions,
                new RecordingEndpoint(rules, keys, RequestRecording.among(outcomes.stream())),
                properties);
    }
}
