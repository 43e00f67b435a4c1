package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Penalty;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.config.ExtraPolicies;
import dev.ratelimit.spring.rules.decision.PolicyVersion;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.decision.UnknownPolicyException;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.history.ConfiguredValue;
import dev.ratelimit.spring.rules.history.HistoryReport;
import dev.ratelimit.spring.rules.override.OverrideReport;
import dev.ratelimit.spring.rules.rule.CallRules;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import dev.ratelimit.spring.rules.traffic.FrequentKeys;
import dev.ratelimit.spring.rules.traffic.Traffic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Describes policies in terms of maps, lists, texts and numbers, for JSON: what they limit and what they did. Thread-safe.
 *
 * @param traffic what became of requests
 * @param waiting the requests that wait; {@code null} if none can
 */
public record PolicyReport(
        RequestRules rules,
        LiveChanges changes,
        OverrideReport overrides,
        TrialJournal trials,
        KeyDisplay keys,
        Traffic traffic,
        @Nullable WaitingRequests waiting) {

    /** All policies, with keys as their plain values or as hashes. */
    public List<Map<String, Object>> all(boolean plain) {
        RulesInForce now = rules.inForce();
        Map<String, List<Map<String, Object>>> changed = changes.report();
        return new TreeMap<>(now.byPolicy())
                .keySet().stream()
                        .map(name -> HistoryReport.with(changed.get(name), policy(name, now, plain)))
                        .toList();
    }

    /** The policies that need no configuration, without those whose name the configuration has. */
    public List<Map<String, Object>> extra() {
        return ExtraPolicies.describe(rules.policies().keySet());
    }

    /**
     * A policy, with the changes of it and the overrides of its keys.
     *
     * @throws UnknownPolicyException if there is no such policy
     */
    public Map<String, Object> of(String policy, boolean plain) {
        return HistoryReport.with(changes.report().get(policy), withOverrides(policy, rules.including(policy), plain));
    }

    private Map<String, Object> withOverrides(String policy, RulesInForce in, boolean plain) {
        Map<String, Object> map = policy(policy, in, plain);
        if (rules.allNames().contains(policy)) {
            map.putAll(overrides.of(policy, plain));
        }
        return map;
    }

    /** A policy that was changed, what the change has replaced, and what is to be known of it. */
    public Map<String, Object> changed(AcceptedChange change, boolean plain) {
        String policy = change.policy();
        Map<String, Object> map = of(policy, plain);
        List<Map<String, Object>> replaced =
                HistoryReport.of(change.replaced(), rules.configured()).get(policy);
        if (replaced != null) {
            map.put("replaced", replaced);
        }
        return withRemarks(policy, map, change.edit().change(), change.before(), rules.including(policy));
    }

    /**
     * What a change would make of a policy, and what is to be known of it, with the version of the present policy. Nothing is
     * changed.
     *
     * @throws RuntimeException as {@link LiveChanges#change}
     */
    public Map<String, Object> preview(String policy, LiveChanges.Edit edit, boolean plain) {
        RulesInForce now = rules.including(policy);
        PolicyVersion before = now.version(policy);
        RulesInForce then = changes.preview(policy, edit);
        Map<String, Object> map = withOverrides(policy, then, plain);
        map.put("version", changes.version(policy, now));
        map.put("dryRun", true);
        return withRemarks(policy, map, edit.change(), before, then);
    }

    private Map<String, Object> withRemarks(
            String policy, Map<String, Object> map, RateLimitChange change, PolicyVersion before, RulesInForce after) {
        long overridden = overrides.overrides().count(policy);
        return new ChangeReport(policy, change, before, after, rules::remarkOnPath, overridden).addTo(map);
    }

    private Map<String, Object> policy(String name, RulesInForce in, boolean plain) {
        Rule rule = in.rule(name);
        RateLimitChange change = in.version(name).change();
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("name", name);
        map.put("limit", ConfiguredValue.limit(rule));
        Long burst = rule.fixed() == null ? burst(rule.policy().limits()) : null;
        if (burst != null) {
            map.put("burst", burst);
        }
        map.put("limits", rule.limits());
        Penalty penalty = rule.policy().penalty();
        if (penalty != null) {
            map.put("penalty", seconds(penalty.duration()));
        }
        map.putAll(plans(rule.overrides().allPlans()));
        map.put("key", rule.key().parts().stream().map(Object::toString).toList());
        map.put("applies", rule.match().toString() + rule.overrides());
        map.put("permits", rule.cost().written());
        List<Map<String, Object>> annotated = annotated(name, in);
        if (!annotated.isEmpty()) {
            map.put("annotated", annotated);
        }
        if (rules.haveStages()) {
            map.put("stage", PropertyName.of(rule.stage()));
        }
        map.put("mode", PropertyName.of(in.mode(name)));
        map.put("version", changes.version(name, in));
        if (change != null) {
            map.put("changed", change.toString());
        }
        map.putAll(waits(rule));
        addObserved(map, rule, plain);
        return map;
    }

    private void addObserved(Map<String, Object> map, Rule rule, boolean plain) {
        String name = rule.policy().name();
        map.put("counts", traffic.counts(name));
        map.put("lastHour", traffic.history(name));
        map.put("mostRefused", mostRefused(rule, plain));
        map.put("mostRefusedEndpoints", mostRefusedEndpoints(name));
        Map<String, Object> trial = trials.known(name, plain);
        if (trial != null) {
            map.put("trial", trial);
        }
    }

    /** What happens to refused requests, and how many wait; empty if they are refused at once. */
    private Map<String, Object> waits(Rule rule) {
        String name = rule.policy().name();
        Map<String, Object> map = new LinkedHashMap<>();
        if (waiting != null && waiting.policies().contains(name)) {
            map.put("onExceeded", PropertyName.of(rule.onExceeded().action()));
            map.put("waiting", waiting.waiting(name));
            if (rule.onExceeded().waits()) {
                map.put("maxWait", seconds(rule.onExceeded().maxWait()));
            }
        }
        return map;
    }

    /** The limits of plans as in the configuration, and their bursts; empty without plans. */
    private static Map<String, Object> plans(Map<String, LimitOverride> limits) {
        Map<String, String> plans = new LinkedHashMap<>();
        Map<String, Long> bursts = new LinkedHashMap<>();
        limits.forEach((plan, override) -> {
            if (override instanceof LimitOverride.Limited limited) {
                List<Limit> own = limited.policy().limits();
                plans.put(plan, ConfiguredValue.rates(own));
                Long burst = burst(own);
                if (burst != null) {
                    bursts.put(plan, burst);
                }
            } else {
                plans.put(plan, PropertyName.of((LimitOverride.Fixed) override));
            }
        });
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("plans", plans);
        map.put("planBursts", bursts);
        map.values().removeIf(value -> ((Map<?, ?>) value).isEmpty());
        return map;
    }

    /** The endpoints and methods whose annotations charge the policy, and at which cost. */
    private List<Map<String, Object>> annotated(String policy, RulesInForce in) {
        Map<String, List<Rule>> rulesOf = new TreeMap<>();
        in.byEndpoint()
                .forEach((endpoint, own) -> rulesOf.put(
                        endpoint.id(),
                        Stream.concat(own.rules().stream(), own.call().stream()).toList()));
        in.byMethod().ofBeans().forEach(called -> rulesOf.put(idOf(called), called.rules()));
        List<Map<String, Object>> annotated = new ArrayList<>();
        // an endpoint with annotations also has the rules that apply to all endpoints
        rulesOf.forEach((id, own) -> own.stream()
                .filter(rule -> rule.match().annotated())
                .filter(rule -> rule.policy().name().equals(policy))
                .forEach(rule -> annotated.add(
                        Map.of("endpoint", id, "permits", rule.cost().written()))));
        return annotated;
    }

    private static String idOf(CallRules called) {
        return Objects.requireNonNull(called.endpoint()).id();
    }

    private List<Map<String, Object>> mostRefused(Rule rule, boolean plain) {
        return traffic.mostRefused(rule.policy().name()).stream()
                .filter(one -> !one.key().isEmpty())
                .map(one -> {
                    Map<String, Object> map = new LinkedHashMap<>();
                    map.put("key", keys.show(rule, one.key(), plain));
                    map.putAll(counted(one));
                    return map;
                })
                .toList();
    }

    private List<Map<String, Object>> mostRefusedEndpoints(String policy) {
        return traffic.mostRefusedEndpoints(policy).stream()
                .map(one -> {
                    Map<String, Object> map = new LinkedHashMap<>();
                    map.put("endpoint", one.key());
                    map.putAll(counted(one));
                    return map;
                })
                .toList();
    }

    /** How often a key was refused. */
    static Map<String, Object> counted(FrequentKeys.Frequent key) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("refused", key.count());
        if (key.lost() > 0) {
            map.put("atMost", key.count() + key.lost());
        }
        return map;
    }

    /** How many permits a bucket holds; {@code null} if that is one period's, as it is without a burst. */
    static @Nullable Long burst(List<Limit> limits) {
        Limit only = limits.get(0);
        boolean same = only.concurrency() || only.capacity() == only.rate().permits();
        return limits.size() > 1 || same ? null : only.capacity();
    }

    /** The status of a limit; times in seconds. */
    static Map<String, Object> status(LimitStatus status) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("limit", status.limit().toString());
        map.put("capacity", status.limit().capacity());
        map.put("remaining", status.remaining());
        map.put("admitted", status.admitted());
        Duration retry = status.retryAfter();
        if (!status.admitted() && retry != null) {
            map.put("retryAfter", seconds(retry));
        }
        map.put("nextAvailable", seconds(status.nextAvailable()));
        map.put("fullAfter", seconds(status.fullAfter()));
        return map;
    }

    static double seconds(Duration time) {
        return time.toNanos() / 1e9;
    }
}
