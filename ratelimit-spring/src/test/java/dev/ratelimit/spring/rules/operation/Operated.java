package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.history.ChangeHistory;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.OperatorActions;
import dev.ratelimit.spring.rules.override.KeyOverrides;
import dev.ratelimit.spring.rules.override.OverrideReport;
import dev.ratelimit.spring.rules.traffic.Traffic;
import dev.ratelimit.spring.rules.trial.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What operators and applications do with rules, as the auto-configuration makes it, and as the endpoint asks for it. */
class Operated {

    final RequestRules rules;
    final RateLimitStore store;
    final KeyDisplay keys = new KeyDisplay();
    final List<BiConsumer<String, Map<String, Object>>> observers = new ArrayList<>();
    final List<Consumer<Set<String>>> watchers = new ArrayList<>();
    final ChangeStore changes;
    final LiveChanges liveChanges;
    final KeyOverrides overrides;
    final OverrideReport overrideReport;
    final KeyBudgets budgets;
    final ChangeHistory history;
    final Trials limitTrials;
    final TrialJournal trials;
    final RefreshedConfiguration configuration;
    final LivePolicies policies;
    private final Ticker time;
    private Supplier<@Nullable String> who = () -> null;
    private Consumer<Object> events = event -> {};
    private @Nullable Traffic traffic;
    private @Nullable WaitingRequests waiting;

    Operated(RequestRules rules, RateLimitStore store, Ticker ticker, boolean showKeys) {
        this(rules, store, ticker, new Trials(rules, ticker), showKeys);
    }

    Operated(RequestRules rules, RateLimitStore store, Ticker ticker, Trials limitTrials, boolean showKeys) {
        this.rules = rules;
        this.limitTrials = limitTrials;
        this.store = store;
        this.time = ticker;
        Scheduler scheduler = Scheduler.of(ticker);
        OperatorActions actions =
                new OperatorActions(() -> who.get(), observers, watchers, event -> events.accept(event), showKeys);
        this.changes = new ChangeStore(ticker);
        this.liveChanges = new LiveChanges(rules, changes, scheduler, actions);
        this.overrides = new KeyOverrides(rules, changes, scheduler, keys::hash, actions);
        this.overrideReport = new OverrideReport(overrides);
        this.budgets = new KeyBudgets(rules, store, keys, overrideReport, actions);
        this.history = new ChangeHistory(rules, changes);
        this.trials = new TrialJournal(rules, limitTrials, keys, actions);
        this.configuration = new RefreshedConfiguration(rules, liveChanges, actions);
        this.policies = new LivePolicies(budgets, liveChanges, overrides, trials, history);
    }

    /** From now on, this is who operates. */
    void identify(Supplier<@Nullable String> next) {
        who = next;
    }

    /** From now on, events go there. */
    void publishTo(QueuedEvents queue) {
        events = queue::publish;
    }

    /** From now on, these requests ask again after each change. */
    void watch(WaitingRequests requests) {
        waiting = requests;
        observers.add((policy, what) -> requests.wake(policy));
    }

    /** What becomes of the requests that it counts from the first call on. */
    Traffic traffic() {
        Traffic counted = traffic != null ? traffic : new Traffic(Scheduler.of(time), time);
        traffic = counted;
        return counted;
    }

    PolicyReport report() {
        return new PolicyReport(rules, liveChanges, overrideReport, trials, keys, traffic(), waiting);
    }

    Map<String, Object> report(String policy, @Nullable List<String> key, boolean showKeys) {
        return key == null ? report().of(policy, showKeys) : budgets.report(policy, key, showKeys);
    }

    @CanIgnoreReturnValue
    Map<String, Object> edit(
            String policy,
            RateLimitChange change,
            boolean fromConfiguration,
            @Nullable String version,
            boolean showKeys) {
        LiveChanges.Edit edit = new LiveChanges.Edit(change, fromConfiguration, version);
        return report().changed(liveChanges.change(policy, edit), showKeys);
    }

    Map<String, Object> preview(
            String policy,
            RateLimitChange change,
            boolean fromConfiguration,
            @Nullable String version,
            boolean showKeys) {
        return report().preview(policy, new LiveChanges.Edit(change, fromConfiguration, version), showKeys);
    }

    @CanIgnoreReturnValue
    Map<String, Object> setOverride(String policy, String key, KeyOverride override, @Nullable String version) {
        return overrideReport.set(overrides.set(policy, key, override, version), false);
    }

    Map<String, Object> endOverride(String policy, String key, @Nullable String version) {
        return overrideReport.removed(Objects.requireNonNull(overrides.remove(policy, key, version)));
    }

    Map<String, Object> explain(@Nullable WebRequest before, WebRequest after, List<String> named, boolean showKeys) {
        return new Explanations(rules, store, keys, overrideReport).of(before, after, named, showKeys);
    }

    Map<String, Object> caller(Caller caller, boolean showKeys) {
        return new CallerReport(rules.inForce(), store, traffic(), keys, overrideReport, showKeys).of(caller);
    }

    void close() {
        liveChanges.close();
        overrides.close();
    }
}
