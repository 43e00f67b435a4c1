package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.history.ConfiguredValue;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.PlainKey;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import dev.ratelimit.spring.rules.traffic.RefusedKeys;
import dev.ratelimit.spring.rules.traffic.Traffic;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What all policies say of a caller, for JSON: the state of its keys, and what is remembered of its refusals. Nothing is
 * taken for that. For one question; not thread-safe.
 */
final class CallerReport {

    /** The maximum number of keys of a policy that are listed, if only parts of them are known. */
    static final int KEYS = 20;

    private static final String NONE = "no refusals are remembered";

    private final RulesInForce rules;
    private final RateLimitStore store;
    private final @Nullable Traffic traffic;
    private final KeyDisplay keys;
    private final MetOverrides met;
    private final boolean plain;

    /** The last refusal of all, and when it was. */
    private @Nullable Map<String, Object> last;

    private Instant lastTime = Instant.MIN;

    CallerReport(
            RulesInForce rules,
            RateLimitStore store,
            @Nullable Traffic traffic,
            KeyDisplay keys,
            MetOverrides met,
            boolean plain) {
        this.rules = rules;
        this.store = store;
        this.traffic = traffic;
        this.keys = keys;
        this.met = met;
        this.plain = plain;
    }

    Map<String, Object> of(Caller caller) {
        List<Map<String, Object>> policies = new ArrayList<>();
        List<Map<String, Object>> others = new ArrayList<>();
        for (Rule rule : new TreeMap<>(rules.byPolicy()).values()) {
            if (caller.isKnownTo(rule.key())) {
                policies.add(policy(rule, caller));
            } else {
                Map<String, Object> other = new LinkedHashMap<>();
                other.put("policy", rule.policy().name());
                other.put("remark", whyNot(rule.key(), caller));
                others.add(other);
            }
        }
        Map<String, Object> report = new LinkedHashMap<>();
        if (isExempt(caller)) {
            report.put("remark", "the address is exempt from all policies (ratelimit.exempt.addresses)");
        }
        if (last != null) {
            report.put("lastRefusal", last);
        }
        report.put("policies", policies);
        report.put("others", others);
        return report;
    }

    private boolean isExempt(Caller caller) {
        String address = caller.address();
        return address != null && AddressRange.anyContains(rules.exemptions().addresses(), PlainKey.address(address));
    }

    /** Why a policy has no key that is known to be this caller's. */
    private static String whyNot(BudgetKey key, Caller caller) {
        if (key.isShared()) {
            return key.parts().isEmpty() ? "all callers share its budget" : "all callers share its budgets";
        }
        List<KeyPart> parts =
                key.parts().stream().filter(part -> !part.kind().isOfTarget()).toList();
        List<KeyPart> several = parts.stream().filter(caller::hasSeveral).toList();
        if (!several.isEmpty()) {
            return "a request with several values of "
                    + several.stream().map(Object::toString).collect(Collectors.joining(", "))
                    + " has none; write one";
        }
        return "nothing is said of " + parts.stream().map(Object::toString).collect(Collectors.joining(", "))
                + "; add "
                + parts.stream().map(Caller::askFor).distinct().collect(Collectors.joining(" or "));
    }

    private Map<String, Object> policy(Rule rule, Caller caller) {
        Map<String, Object> map = new LinkedHashMap<>();
        String name = rule.policy().name();
        map.put("policy", name);
        map.put("mode", PropertyName.of(rules.mode(name)));
        map.put("limit", ConfiguredValue.limit(rule));
        map.put("parts", rule.key().parts().stream().map(Object::toString).toList());
        List<@Nullable String> values = new ArrayList<>();
        rule.key()
                .parts()
                .forEach(part -> values.add(caller.valueOf(part, rule.key().missing())));
        if (!values.contains(null)) {
            List<String> known = values.stream().map(Objects::requireNonNull).toList();
            map.put("keys", List.of(key(rule, PlainKey.of(rule, rules.sources(), known), caller)));
        } else {
            map.putAll(remembered(rule, values, caller));
        }
        return map;
    }

    /** The keys that have these values, as far as they were refused lately. */
    private Map<String, Object> remembered(Rule rule, List<@Nullable String> values, Caller caller) {
        List<KeyPart> parts = rule.key().parts();
        List<@Nullable String> wanted = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            String value = values.get(i);
            wanted.add(value == null ? null : PlainKey.part(parts.get(i), rules.sources(), value));
        }
        List<PlainKey> found = new ArrayList<>();
        int unreadable = 0;
        for (String key : rememberedKeys(rule)) {
            PlainKey charged = PlainKey.ofCharged(key);
            if (charged == null) {
                unreadable++;
            } else if (isLike(charged.parts(), wanted)) {
                found.add(charged);
            }
        }
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("remark", remark(rule, values, found.size(), unreadable));
        map.put(
                "keys",
                found.stream().limit(KEYS).map(key -> key(rule, key, caller)).toList());
        return map;
    }

    private Set<String> rememberedKeys(Rule rule) {
        Set<String> all = new LinkedHashSet<>();
        if (traffic != null) {
            String policy = rule.policy().name();
            all.addAll(traffic.lastRefused(policy).keys());
            traffic.mostRefused(policy).forEach(one -> all.add(one.key()));
        }
        return all;
    }

    private static boolean isLike(List<String> encoded, List<@Nullable String> wanted) {
        if (encoded.size() != wanted.size()) {
            return false;
        }
        for (int i = 0; i < encoded.size(); i++) {
            String part = wanted.get(i);
            if (part != null && !part.equals(encoded.get(i))) {
                return false;
            }
        }
        return true;
    }

    private String remark(Rule rule, List<@Nullable String> values, int found, int unreadable) {
        List<String> open = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            if (values.get(i) == null) {
                open.add(rule.key().parts().get(i).toString());
            }
        }
        String text = "only keys that were refused lately are known, because the question does not say "
                + String.join(", ", open);
        if (found == 0) {
            text += "; " + NONE + (unreadable == 0 ? noneSince(rule) : "");
        } else if (found > KEYS) {
            text += "; these are the last " + KEYS + " of " + found;
        }
        return unreadable == 0
                ? text
                : text + "; " + unreadable + " more " + (unreadable == 1 ? "is" : "are") + " too long to be read";
    }

    private String noneSince(Rule rule) {
        return traffic == null
                ? ""
                : ", and there was none since "
                        + traffic.lastRefused(rule.policy().name()).complete();
    }

    /** One key of the caller. */
    private Map<String, Object> key(Rule rule, PlainKey key, Caller caller) {
        Map<String, Object> map = new LinkedHashMap<>();
        Object shown = keys.show(rule, key.key(), plain);
        map.put("key", shown);
        List<String> replaced = rule.key().parts().stream()
                .filter(part -> caller.address() != null
                        && caller.isReplacedByAddress(part, rule.key().missing()))
                .map(Object::toString)
                .toList();
        if (!replaced.isEmpty()) {
            map.put("remark", "of a request from this address without " + String.join(", ", replaced));
        }
        map.putAll(state(rule, key));
        met.addTo(map, rule, rules.liveOverride(rule, key));
        if (traffic != null) {
            map.put("refusals", refusals(rule.policy().name(), key.key(), shown, traffic));
        }
        return map;
    }

    private Map<String, Object> state(Rule rule, PlainKey key) {
        Map<String, Object> map = new LinkedHashMap<>();
        try {
            map.putAll(new KeyState(rules, store).of(rule, key));
        } catch (StoreUnavailableException e) {
            map.put("error", String.valueOf(e.getMessage()));
        }
        if (map.containsKey("plans")) {
            return map;
        }
        LimitOverride override = rules.override(rule, key);
        if (override instanceof LimitOverride.Limited limited
                && !limited.policy().limits().equals(rule.policy().limits())) {
            map.put("override", ConfiguredValue.rates(limited.policy().limits()));
        }
        return map;
    }

    private Map<String, Object> refusals(String policy, String key, Object shown, Traffic recorded) {
        Map<String, Object> map = new LinkedHashMap<>();
        RefusedKeys.Remembered known = recorded.lastRefused(policy).of(key);
        if (known == null) {
            map.put("noneSince", recorded.lastRefused(policy).complete().toString());
        } else {
            map.put(
                    "refused",
                    known.byMinute().stream().mapToInt(Integer::intValue).sum());
            map.put("lastHour", known.byMinute());
            map.put("since", known.since().toString());
            map.put("last", refusal(known.last()));
            noteLast(policy, shown, known.last());
        }
        recorded.mostRefused(policy).stream()
                .filter(one -> one.key().equals(key))
                .forEach(one -> map.put("mostRefused", PolicyReport.counted(one)));
        if (known == null && !map.containsKey("mostRefused")) {
            map.put("remark", NONE);
        }
        return map;
    }

    private static Map<String, Object> refusal(RefusedKeys.Refusal refusal) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("time", refusal.time().toString());
        if (refusal.endpoint() != null) {
            map.put("endpoint", refusal.endpoint());
        }
        if (refusal.retryAfterSeconds() != null) {
            map.put("retryAfter", refusal.retryAfterSeconds());
        }
        return map;
    }

    private void noteLast(String policy, Object shown, RefusedKeys.Refusal refusal) {
        // what shadow mode would have refused, nobody complains of
        if (rules.mode(policy) != Mode.SHADOW && refusal.time().isAfter(lastTime)) {
            lastTime = refusal.time();
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("policy", policy);
            map.put("key", shown);
            map.putAll(refusal(refusal));
            last = map;
        }
    }
}
