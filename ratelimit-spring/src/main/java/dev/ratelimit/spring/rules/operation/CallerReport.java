package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.history.ConfiguredValue;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.key.MissingKey;
import dev.ratelimit.spring.rules.override.OverrideReport;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.PlainKey;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import dev.ratelimit.spring.rules.traffic.FrequentKeys;
import dev.ratelimit.spring.rules.traffic.Traffic;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What all policies say of a caller, for JSON: the state of its keys. Nothing is taken for that.
 *
 * @param traffic which keys are refused most
 * @param plain whether to show keys as their plain values, not as hashes
 */
public record CallerReport(
        RulesInForce rules,
        RateLimitStore store,
        Traffic traffic,
        KeyDisplay keys,
        OverrideReport overrides,
        boolean plain) {

    /** The answer to a question about this caller. */
    public Map<String, Object> of(Caller caller) {
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
                + parts.stream().map(Caller::askFor).distinct().collect(Collectors.joining(" or "))
                + (key.missing() == MissingKey.SHARED ? "; all requests without it share the key -" : "");
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

    /** Those of the most refused keys that have these values. */
    private Map<String, Object> remembered(Rule rule, List<@Nullable String> values, Caller caller) {
        List<KeyPart> parts = rule.key().parts();
        List<@Nullable String> wanted = new ArrayList<>();
        List<String> open = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            String value = values.get(i);
            wanted.add(value == null ? null : PlainKey.part(parts.get(i), rules.sources(), value));
            if (value == null) {
                open.add(parts.get(i).toString());
            }
        }
        List<Map<String, Object>> found = new ArrayList<>();
        int unreadable = 0;
        for (FrequentKeys.Frequent refused : mostRefused(rule)) {
            PlainKey key = PlainKey.ofCharged(refused.key());
            if (key == null) {
                unreadable++;
            } else if (isLike(key.parts(), wanted)) {
                found.add(key(rule, key, caller));
            }
        }
        String remark =
                "only the most refused keys are known, because the question does not say " + String.join(", ", open);
        if (unreadable > 0) {
            remark += "; " + unreadable + (unreadable == 1 ? " of them is" : " of them are") + " too long to be read";
        }
        return Map.of("remark", remark, "keys", found);
    }

    private List<FrequentKeys.Frequent> mostRefused(Rule rule) {
        return traffic.mostRefused(rule.policy().name());
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

    /** One key of the caller. */
    private Map<String, Object> key(Rule rule, PlainKey key, Caller caller) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("key", keys.show(rule, key.key(), plain));
        List<String> replaced = rule.key().parts().stream()
                .filter(part -> caller.address() != null
                        && caller.isReplacedByAddress(part, rule.key().missing()))
                .map(Object::toString)
                .toList();
        if (!replaced.isEmpty()) {
            map.put("remark", "of a request from this address without " + String.join(", ", replaced));
        }
        map.putAll(state(rule, key));
        overrides.addMet(map, rule, rules.liveOverride(rule, key), plain);
        mostRefused(rule).stream()
                .filter(one -> one.key().equals(key.key()))
                .forEach(one -> map.put("mostRefused", PolicyReport.counted(one)));
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
}
