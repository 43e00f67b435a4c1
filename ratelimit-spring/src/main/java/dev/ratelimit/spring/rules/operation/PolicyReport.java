package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Penalty;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.decision.PolicyVersion;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.ConfiguredValue;
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

/** Describes policies and the state of keys in terms of maps, lists, texts and numbers, for JSON. */
record PolicyReport(
        RulesInForce rules,
        ChangeStore changes,
        Observations observed,
        TrialJournal trials,
        KeyDisplay keys,
        boolean plain,
        boolean stages) {

    /** A policy: what it limits and, if requests are counted, what it did. */
    Map<String, Object> policy(Rule rule) {
        String name = rule.policy().name();
        PolicyVersion version = rules.version(name);
        RateLimitChange change = version.change();
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
        List<Map<String, Object>> annotated = annotated(name);
        if (!annotated.isEmpty()) {
            map.put("annotated", annotated);
        }
        if (stages) {
            map.put("stage", PropertyName.of(rule.stage()));
        }
        map.put("mode", PropertyName.of(rules.mode(name)));
        map.put("version", version.id(changes.text(ChangeStore.Name.ofPolicy(name))));
        if (change != null) {
            map.put("changed", change.toString());
        }
        map.putAll(waits(rule));
        addObserved(rule, map);
        return map;
    }

    private void addObserved(Rule rule, Map<String, Object> map) {
        String name = rule.policy().name();
        Traffic counted = observed.traffic();
        if (counted != null) {
            map.put("counts", counted.counts(name));
            map.put("lastHour", counted.history(name));
            map.put("mostRefused", mostRefused(rule, counted));
            map.put("mostRefusedEndpoints", mostRefusedEndpoints(name, counted));
        }
        Map<String, Object> trial = trials.known(name, plain);
        if (trial != null) {
            map.put("trial", trial);
        }
    }

    /** What happens to refused requests, and how many wait; empty if they are refused at once. */
    private Map<String, Object> waits(Rule rule) {
        String name = rule.policy().name();
        Map<String, Object> map = new LinkedHashMap<>();
        WaitingRequests waiting = observed.waiting();
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
    private List<Map<String, Object>> annotated(String policy) {
        Map<String, List<Rule>> rulesOf = new TreeMap<>();
        rules.byEndpoint()
                .forEach((endpoint, own) -> rulesOf.put(
                        endpoint.id(),
                        Stream.concat(own.rules().stream(), own.call().stream()).toList()));
        rules.byMethod().ofBeans().forEach(called -> rulesOf.put(idOf(called), called.rules()));
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

    private List<Map<String, Object>> mostRefused(Rule rule, Traffic recorded) {
        return recorded.mostRefused(rule.policy().name()).stream()
                .filter(one -> !one.key().isEmpty())
                .map(one -> {
                    Map<String, Object> map = new LinkedHashMap<>();
                    map.put("key", keys.show(rule, one.key(), plain));
                    map.putAll(counted(one));
                    return map;
                })
                .toList();
    }

    private static List<Map<String, Object>> mostRefusedEndpoints(String policy, Traffic recorded) {
        return recorded.mostRefusedEndpoints(policy).stream()
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
