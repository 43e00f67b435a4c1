package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.history.ChangeHistory;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.OperatorActions;
import dev.ratelimit.spring.rules.operation.KeyBudgets;
import dev.ratelimit.spring.rules.operation.KeyDisplay;
import dev.ratelimit.spring.rules.operation.LiveChanges;
import dev.ratelimit.spring.rules.operation.LivePolicies;
import dev.ratelimit.spring.rules.operation.PolicyReport;
import dev.ratelimit.spring.rules.operation.TrialJournal;
import dev.ratelimit.spring.rules.override.KeyOverrides;
import dev.ratelimit.spring.rules.override.OverrideReport;
import dev.ratelimit.spring.rules.traffic.Traffic;
import dev.ratelimit.spring.rules.trial.Trials;
import dev.ratelimit.test.FakeTicker;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** An instance in virtual time that shares its changes with others by a server, and has read what they have changed. */
final class SharingInstance {

    /** Who operates. */
    String operator = "somebody";

    final List<Consumer<Set<String>>> watchers = new ArrayList<>();
    final ChangeStore changes;
    final LiveChanges liveChanges;
    final RateLimitPolicies policies;
    final PolicyReport report;
    final RedisChanges shared;

    SharingInstance(ScriptedServer server, FakeTicker ticker, Map<String, String> properties) {
        RequestRules rules = RequestRules.withoutRequests(
                new Binder(new MapConfigurationPropertySource(properties))
                        .bind("ratelimit", RateLimitProperties.class)
                        .get(),
                new StaticListableBeanFactory(),
                text -> text,
                limit -> {});
        InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
        KeyDisplay keys = new KeyDisplay();
        OperatorActions actions = new OperatorActions(() -> operator, List.of(), watchers, event -> {}, false);
        this.changes = new ChangeStore(ticker);
        this.liveChanges = new LiveChanges(rules, changes, ticker, actions);
        KeyOverrides overrides = new KeyOverrides(rules, changes, ticker, keys::hash, actions);
        OverrideReport ofOverrides = new OverrideReport(overrides);
        TrialJournal trials = new TrialJournal(rules, new Trials(rules, ticker), keys, actions);
        this.policies = new LivePolicies(
                new KeyBudgets(rules, store, keys, ofOverrides, actions),
                liveChanges,
                overrides,
                trials,
                new ChangeHistory(rules, changes));
        this.report =
                new PolicyReport(rules, liveChanges, ofOverrides, trials, keys, new Traffic(ticker, ticker), null);
        this.shared = new RedisChanges(server, "ratelimit", changes, ticker, ticker);
        changes.share(shared);
        shared.read();
    }
}
