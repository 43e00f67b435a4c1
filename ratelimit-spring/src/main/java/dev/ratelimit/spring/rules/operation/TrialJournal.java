package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.Limit;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitTrial;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.UnknownPolicyException;
import dev.ratelimit.spring.rules.history.OperatorActions;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.traffic.FrequentKeys;
import dev.ratelimit.spring.rules.trial.Trial;
import dev.ratelimit.spring.rules.trial.Trials;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts and ends trials of other limits, tells logs and observers who did so, and describes what they show. Thread-safe.
 */
public final class TrialJournal {

    private static final Logger log = LoggerFactory.getLogger(TrialJournal.class);

    private final RequestRules rules;
    private final Trials trials;
    private final KeyDisplay keys;
    private final OperatorActions actions;

    /**
     * Creates a journal.
     *
     * @param actions who starts and ends them, and who is told
     */
    public TrialJournal(RequestRules rules, Trials trials, KeyDisplay keys, OperatorActions actions) {
        this.rules = rules;
        this.trials = trials;
        this.keys = keys;
        this.actions = actions;
    }

    /**
     * Starts the trial of another limit.
     *
     * @param showKeys whether to show keys as their plain values, not as hashes
     * @return the trial, for JSON
     * @throws UnknownPolicyException if there is no such policy
     * @throws IllegalArgumentException if the policy cannot have the limit, is off, or too many trials run
     * @throws dev.ratelimit.spring.RateLimitConfigurationException likewise, if the limit is wrong
     */
    public Map<String, Object> start(String policy, RateLimitTrial asked, boolean showKeys) {
        Trial trial = trials.start(policy, asked, actions.name());
        RateLimitTrial.Result result = trial.result();
        log.info(
                "Rate limit {}: {} tries {} until {} beside its limit{}",
                Quotation.of(policy),
                actions.logged(),
                texts(result.limits()),
                result.until(),
                asked.reason() == null ? "" : ", because of " + Quotation.of(asked.reason()));
        actions.tell(
                policy,
                Map.of(
                        "trial",
                        texts(result.limits()).toString(),
                        "until",
                        result.until().toString()));
        return describe(policy, trial, showKeys);
    }

    /**
     * Describes the last trial of a policy, for JSON.
     *
     * @param showKeys whether to show keys as their plain values, not as hashes
     * @throws UnknownPolicyException if there is no such policy
     * @throws NoSuchElementException if it has no trial
     */
    public Map<String, Object> report(String policy, boolean showKeys) {
        Trial trial = trials.of(policy);
        return describe(policy, orNone(trial), showKeys);
    }

    /** What the last trial of a policy has shown so far; {@code null} if it has no trial. */
    RateLimitTrial.@Nullable Result result(String policy) {
        Trial trial = trials.of(policy);
        return trial == null ? null : trial.result();
    }

    /** As {@link #report}; {@code null} if it has no trial. */
    @Nullable
    Map<String, Object> known(String policy, boolean showKeys) {
        Trial trial = trials.of(policy);
        return trial == null ? null : describe(policy, trial, showKeys);
    }

    /**
     * Ends the trial of a policy, and forgets it.
     *
     * @param showKeys whether to show keys as their plain values, not as hashes
     * @return the trial, for JSON
     * @throws UnknownPolicyException if there is no such policy
     * @throws NoSuchElementException if it has no trial
     */
    public Map<String, Object> end(String policy, boolean showKeys) {
        return describe(policy, orNone(endAny(policy)), showKeys);
    }

    /** Ends the trial of a policy; {@code null} if it has none. */
    @Nullable
    Trial endAny(String policy) {
        Trial trial = trials.end(policy);
        if (trial == null) {
            return null;
        }
        RateLimitTrial.Result result = trial.result();
        log.info(
                "Rate limit {}: {} has ended the trial of {}, which would have refused {} more of {} requests",
                Quotation.of(policy),
                actions.logged(),
                texts(result.limits()),
                result.more(),
                result.requests());
        actions.tell(policy, Map.of("endedTrial", texts(result.limits()).toString()));
        return trial;
    }

    private static Trial orNone(@Nullable Trial trial) {
        if (trial == null) {
            throw new NoSuchElementException("this policy has no trial; POST starts one");
        }
        return trial;
    }

    private static List<String> texts(List<Limit> limits) {
        return limits.stream().map(Limit::toString).collect(Collectors.toList());
    }

    private Map<String, Object> describe(String policy, Trial trial, boolean plain) {
        RateLimitTrial.Result result = trial.result();
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("policy", policy);
        map.put("limits", texts(result.limits()));
        map.put("present", texts(rules.including(policy).rule(policy).policy().limits()));
        map.put("since", result.since().toString());
        map.put("until", result.until().toString());
        map.put("running", result.running());
        put(map, "by", trial.by());
        put(map, "reason", trial.asked().reason());
        map.put("requests", result.requests());
        map.put("refused", result.more() + result.both());
        map.put("refusedNow", result.fewer() + result.both());
        map.put("more", result.more());
        map.put("fewer", result.fewer());
        map.put("keys", trial.keys());
        map.put("refusedKeys", result.refusedKeys());
        if (result.refusedKeys() == Trial.REFUSED_KEYS) {
            map.put("refusedKeysAtLeast", true);
        }
        addMostRefused(trial, map, plain);
        put(map, "remark", remark(policy, trial, result.running()));
        return map;
    }

    private @Nullable String remark(String policy, Trial trial, boolean running) {
        List<String> remarks = new ArrayList<>();
        if (running && rules.inForce().mode(policy) == Mode.OFF) {
            remarks.add("the policy is off, so no request reaches the trial");
        }
        if (trial.rule().metered()) {
            remarks.add("the trial counts what requests reserve, whatever the application settles");
        }
        if (trial.lost() > 0) {
            remarks.add("more than " + Trial.KEYS + " keys were active at once, and " + trial.lost()
                    + " were forgotten, so more would be refused");
        }
        return remarks.isEmpty() ? null : String.join("; ", remarks);
    }

    private void addMostRefused(Trial trial, Map<String, Object> map, boolean plain) {
        Rule rule = trial.rule();
        map.put(
                "mostRefused",
                trial.mostRefused().stream()
                        .filter(one -> !one.key().isEmpty())
                        .map(one -> counted("key", keys.show(rule, one.key(), plain), one))
                        .toList());
        map.put(
                "mostRefusedEndpoints",
                trial.mostRefusedEndpoints().stream()
                        .map(one -> counted("endpoint", one.key(), one))
                        .toList());
    }

    private static void put(Map<String, Object> map, String name, @Nullable String value) {
        if (value != null) {
            map.put(name, value);
        }
    }

    private static Map<String, Object> counted(String what, Object shown, FrequentKeys.Frequent one) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(what, shown);
        map.putAll(PolicyReport.counted(one));
        return map;
    }
}
