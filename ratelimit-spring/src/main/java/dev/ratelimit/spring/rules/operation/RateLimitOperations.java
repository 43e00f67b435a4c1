package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitChangedEvent;
import dev.ratelimit.spring.RateLimitChangedEvent.Cause;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RateLimitTrial;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.address.IpAddress;
import dev.ratelimit.spring.rules.config.ExtraPolicies;
import dev.ratelimit.spring.rules.decision.PolicyVersion;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.decision.StaleVersionException;
import dev.ratelimit.spring.rules.decision.UnknownPolicyException;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.history.Asker;
import dev.ratelimit.spring.rules.history.ChangeHistory;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.HistoryReport;
import dev.ratelimit.spring.rules.override.KeyOverrides;
import dev.ratelimit.spring.rules.override.OverrideJournal;
import dev.ratelimit.spring.rules.rule.PlainKey;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.trial.Trials;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.env.Environment;

/** What operators and applications do with the rules in force. Thread-safe. */
public final class RateLimitOperations implements RateLimitPolicies, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(RateLimitOperations.class);

    private final RequestRules rules;
    private final RateLimitStore store;
    private final KeyBudgets budgets;
    private final ChangeStore changes;
    private final LiveChanges live;
    private final KeyOverrides overrides;
    private final ChangeHistory history;
    private final RefreshedConfiguration refreshed;
    private final OverrideJournal journal;
    private final KeyDisplay keys = new KeyDisplay();
    private final Observations observations;
    private final TrialJournal trials;
    private final Observers observers = new Observers();
    private final Asker asker = new Asker();
    private volatile @Nullable QueuedEvents events;

    /** Operates on these rules; the ticker's scheduler ends changes. */
    public RateLimitOperations(RequestRules rules, RateLimitStore store, Ticker ticker) {
        this(rules, store, ticker, Scheduler.of(ticker), new Trials(rules, ticker));
    }

    /**
     * Operates on these rules, and on the keys in this store.
     *
     * @param ticker tells which changes and overrides of keys have ended
     * @param scheduler ends changes
     * @param trials of other limits, which are told of all requests
     */
    public RateLimitOperations(
            RequestRules rules, RateLimitStore store, Ticker ticker, Scheduler scheduler, Trials trials) {
        this.rules = rules;
        this.store = store;
        this.budgets = new KeyBudgets(rules, store);
        this.changes = new ChangeStore(ticker);
        this.live = new LiveChanges(rules, changes, scheduler);
        this.overrides = new KeyOverrides(rules, changes, scheduler);
        this.history = new ChangeHistory(rules, changes, live::inForce);
        this.journal = OverrideJournal.of(overrides, keys::hash, asker, observers::tell);
        this.observations = new Observations(rules, keys);
        this.trials = new TrialJournal(rules, trials, keys, asker, observers::tell);
        this.refreshed = new RefreshedConfiguration(
                rules, live, (policy, before, now) -> publish(policy, Cause.CONFIGURATION, before, now));
        live.tellEnded(this::ended);
    }

    /** Ends no changes, and tells of no ends, from now on. */
    @Override
    public void close() {
        live.close();
        overrides.close();
    }

    @Override
    public Set<String> names() {
        return rules.allNames();
    }

    @Override
    public Policy policy(String name) {
        return rules.inForce().rule(name).policy();
    }

    /** The status of a refusal by this policy. */
    public int refusalStatus(String name) {
        return rules.inForce().rule(name).format().status();
    }

    @Override
    public Mode mode(String name) {
        RulesInForce now = rules.inForce();
        return now.mode(now.rule(name).policy().name());
    }

    @Override
    public Charge charge(String policy, String... key) {
        return budgets.charge(policy, List.of(key));
    }

    @Override
    public List<LimitStatus> state(String policy, String... key) {
        return budgets.state(policy, List.of(key));
    }

    @Override
    public boolean reset(String policy, String... key) {
        KeyBudgets.Reset reset = budgets.reset(policy, List.of(key));
        observers.tell(policy, reset.logged(policy, keys.hash(reset.key()), asker.logged()));
        return reset.certain();
    }

    @Override
    public void change(String policy, RateLimitChange change) {
        edit(policy, change, false, null, false);
    }

    @Override
    public void restore(String policy) {
        edit(policy, new RateLimitChange(null, null, null), true, null, false);
    }

    /**
     * Changes a policy, in one step.
     *
     * @param fromConfiguration whether what the change leaves out returns to the configuration; otherwise it stays as it
     *     is
     * @param version the version of the policy that is to be changed, as it was reported; {@code null} for any
     * @param showKeys whether to show keys as their plain values, not as hashes
     * @throws RateLimitConfigurationException if the configuration would not be valid; the policy then stays as it is
     * @throws UnknownPolicyException if there is no such policy
     * @throws StaleVersionException if the policy has another version by now
     * @return the changed policy, for JSON
     * @throws IllegalStateException if changes are shared, and cannot be at the moment
     */
    @CanIgnoreReturnValue
    public Map<String, Object> edit(
            String policy,
            RateLimitChange change,
            boolean fromConfiguration,
            @Nullable String version,
            boolean showKeys) {
        LiveChanges.Edit edit = new LiveChanges.Edit(change, fromConfiguration, version, asker.kept());
        AcceptedChange accepted = live.change(policy, edit);
        PolicyVersion before = accepted.before();
        log.warn(
                "Rate limit {} was changed by {} {}",
                Quotation.of(policy),
                asker.logged(),
                accepted.logged(edit, live.duration()));
        observers.tell(policy, accepted.audited(edit));
        publish(policy, Cause.OPERATOR, before.toString(), accepted.now().toString());
        observers.tellNames(names());
        Map<String, Object> report = report(policy, null, showKeys);
        List<Map<String, Object>> replaced =
                HistoryReport.of(accepted.replaced(), rules.configured()).get(policy);
        if (replaced != null) {
            report.put("replaced", replaced);
        }
        return new ChangeReport(
                        policy, change, before, rules.including(policy), rules::remarkOnPath, overridden(policy))
                .addTo(report);
    }

    /**
     * Describes what {@link #edit} would make of a policy, for JSON, with the version of the present policy; takes and throws
     * the same. Nothing is changed.
     */
    public Map<String, Object> preview(
            String policy,
            RateLimitChange change,
            boolean fromConfiguration,
            @Nullable String version,
            boolean showKeys) {
        PolicyVersion before = rules.including(policy).version(policy);
        RulesInForce then =
                live.preview(policy, new LiveChanges.Edit(change, fromConfiguration, version, asker.kept()));
        Map<String, Object> report = describe(policy, then, showKeys);
        report.put("version", before.id(changes.text(ChangeStore.Name.ofPolicy(policy))));
        report.put("dryRun", true);
        return new ChangeReport(policy, change, before, then, rules::remarkOnPath, overridden(policy)).addTo(report);
    }

    private long overridden(String policy) {
        return journal.overrides().count(policy);
    }

    /** Tells of changes that have ended by themselves. */
    private void ended(String policy, PolicyVersion before, PolicyVersion now) {
        log.warn("Rate limit {} was {}, and is {} since its change has ended", Quotation.of(policy), before, now);
        observers.tell(policy, Map.of("expired", "", "from", before.toString(), "to", now.toString()));
        observers.tellNames(names());
        publish(policy, Cause.EXPIRY, before.toString(), now.toString());
    }

    @Override
    public List<HistoryEntry> history(int limit) {
        return history.entries(null, limit);
    }

    @Override
    public List<HistoryEntry> history(String policy, int limit) {
        return history.entries(policy, limit);
    }

    /** The history of changes. */
    public ChangeHistory history() {
        return history;
    }

    /** Shows keys in a history as their plain values, or as hashes. */
    public ChangeHistory.ShownKeys shownKeys(boolean plain) {
        return (policy, key) -> journal.show(policy, key, plain);
    }

    @Override
    public void override(String policy, String key, KeyOverride override) {
        Map<String, Object> unused = journal.set(policy, key, override, null, false);
    }

    @Override
    public boolean removeOverride(String policy, String key) {
        return journal.remove(policy, key, null) != null;
    }

    @Override
    public List<OverriddenKey> overrides(String policy) {
        return overrides.of(policy);
    }

    /** The overrides of single keys, and what is told of them. */
    public OverrideJournal overrides() {
        return journal;
    }

    @Override
    public void startTrial(String policy, RateLimitTrial trial) {
        Map<String, Object> unused = trials.start(policy, trial, false);
    }

    @Override
    public RateLimitTrial.@Nullable Result trial(String policy) {
        return trials.result(policy);
    }

    @Override
    public boolean endTrial(String policy) {
        return trials.endAny(policy) != null;
    }

    /** The trials of other limits. */
    public TrialJournal trials() {
        return trials;
    }

    /** What is recorded of requests. */
    public Observations observations() {
        return observations;
    }

    /**
     * From now on, logs who asks for changes and resets.
     *
     * @param who the name of whoever asks at the moment; {@code null} for the application itself
     */
    public void identify(Supplier<@Nullable String> who) {
        asker.identify(who);
    }

    /**
     * Reads the policies of the configuration again, and puts them in force if they have changed: all or, with a
     * mistake, none. A mistake is logged as at the start.
     */
    public boolean refresh(Environment environment) {
        boolean changed = refreshed.refresh(environment);
        wakeAll();
        return changed;
    }

    /** The configuration that is not applied: since when, and why; {@code null} if the last one is in force. */
    public @Nullable Map<String, Object> refusedConfiguration() {
        return refreshed.refused();
    }

    /** Whether operators have changed a policy, so that it is not as configured. */
    public boolean isChanged(String policy) {
        return rules.changes().containsKey(policy);
    }

    /** How many keys under a policy have an override by an operator. */
    public long countOverrides(String policy) {
        return overrides.count(policy);
    }

    /** What operators have changed, which may be shared with other instances. */
    public ChangeStore changes() {
        return changes;
    }

    /** Adopts what other instances have changed, while no change of this instance is under way. */
    @SuppressWarnings("ReferenceEquality") // those that are in force by now are others
    public ChangeStore.@Nullable Contents adopt(ChangeStore.Contents theirs, long nowMicros) {
        RulesInForce before = rules.inForce();
        ChangeStore.Contents missing = changes.adopt(theirs, nowMicros);
        if (before != rules.inForce()) {
            observers.tellNames(names());
            wakeAll();
        }
        return missing;
    }

    private void wakeAll() {
        WaitingRequests requests = observations.waiting();
        if (requests != null) {
            requests.policies().forEach(requests::wake);
        }
    }

    /** How long a change lasts, for people. */
    public String changesLast() {
        return live.duration();
    }

    /** Calls this with the policy and what was done, after each change and each reset; what it throws is logged. */
    public void observe(BiConsumer<String, Map<String, Object>> observer) {
        observers.add(observer);
    }

    /**
     * Publishes an event for each change of a policy and of an override, wherever it comes from.
     *
     * @param showKeys whether to show keys as their plain values, not as hashes
     */
    public void publishTo(QueuedEvents queue, boolean showKeys) {
        events = queue;
        journal.publishTo(queue::publish, showKeys);
        live.tellAdopted(
                (policy, before, now) -> publish(policy, Cause.OTHER_INSTANCE, before.toString(), now.toString()));
    }

    private void publish(String policy, Cause cause, String from, String to) {
        QueuedEvents queue = events;
        if (queue != null && !from.equals(to)) {
            String by = cause == Cause.OPERATOR ? asker.name() : null;
            queue.publish(new RateLimitChangedEvent(policy, cause, by, from, to));
        }
    }

    /** Shows how many requests wait, and lets them ask again after each change. */
    public void watch(WaitingRequests requests) {
        observations.watch(requests);
        observe((policy, what) -> requests.wake(policy));
    }

    /** Tells this the names of all policies, whenever there may be others than before. */
    public void watchNames(Consumer<Set<String>> observer) {
        observers.addOfNames(observer);
    }

    /** Describes the policies that need no configuration, for JSON; without those whose name the configuration has. */
    public List<Map<String, Object>> extra() {
        return ExtraPolicies.describe(rules.policies().keySet());
    }

    /** Describes all policies, for JSON, with keys as their plain values if they may be shown, otherwise as hashes. */
    public List<Map<String, Object>> report(boolean showKeys) {
        RulesInForce now = rules.inForce();
        PolicyReport report = report(now, showKeys);
        Map<String, List<Map<String, Object>>> changes = history.inForce();
        return new TreeMap<>(now.byPolicy())
                .values().stream()
                        .map(rule ->
                                HistoryReport.with(changes.get(rule.policy().name()), report.policy(rule)))
                        .toList();
    }

    private PolicyReport report(RulesInForce now, boolean showKeys) {
        return new PolicyReport(now, changes, observations, trials, keys, showKeys, rules.haveStages());
    }

    /**
     * Describes a policy and, unless {@code key} is {@code null}, the state of a key, for JSON.
     *
     * @param key the plain values of its parts
     * @param showKeys whether to show keys as their plain values, not as hashes
     * @throws UnknownPolicyException if there is no such policy
     * @throws IllegalArgumentException if its key has other parts
     * @throws dev.ratelimit.StoreUnavailableException if the store does not answer, and the policy fails closed
     */
    public Map<String, Object> report(String policy, @Nullable List<String> key, boolean showKeys) {
        if (key != null) {
            return new KeyState(rules.inForce(), store).of(policy, key, keys, met(showKeys), showKeys);
        }
        return HistoryReport.with(history.inForce().get(policy), describe(policy, rules.including(policy), showKeys));
    }

    private Map<String, Object> describe(String policy, RulesInForce in, boolean showKeys) {
        Map<String, Object> report = report(in, showKeys).policy(in.rule(policy));
        if (names().contains(policy)) {
            report.putAll(journal.report(policy, showKeys));
        }
        return report;
    }

    /**
     * Describes what all policies say of a caller, for JSON: the state of its keys, as {@link #report(String, List,
     * boolean)} does, and, if requests are counted, what is remembered of its refusals. Takes nothing.
     *
     * @param showKeys whether to show keys as their plain values, not as hashes
     * @throws IllegalArgumentException if a value is none, such as an address
     */
    public Map<String, Object> caller(Caller caller, boolean showKeys) {
        return new CallerReport(rules.inForce(), store, observations.traffic(), keys, met(showKeys), showKeys)
                .of(caller);
    }

    /**
     * Describes what would become of a request, for JSON. Takes nothing.
     *
     * @param before the request before Spring Security; {@code null} if all rules apply at once
     * @param after the request after Spring Security
     * @param named the policies that its route names, which are charged last; empty for none
     * @param showKeys whether to show keys as their plain values, not as hashes
     * @throws IllegalArgumentException if the client's address is none
     */
    public Map<String, Object> explain(
            @Nullable WebRequest before, WebRequest after, List<String> named, boolean showKeys) {
        IpAddress unused = PlainKey.address(Objects.toString(after.remoteAddress()));
        return new Explanation(rules.inForce(), store, met(showKeys)).of(before, after, named, keys, showKeys);
    }

    private MetOverrides met(boolean showKeys) {
        return (rule, entry) -> journal.report(rule.policy().name(), entry, showKeys);
    }
}
