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
import java.util.stream.IntStream;
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
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("policy", rule.policy().name());
            List<@Nullable String> values = new ArrayList<>();
            rule.key()
                    .parts()
                    .forEach(part -> values.add(caller.valueOf(part, rule.key().missing())));
            if (values.stream().allMatch(Objects::isNull)) {
                map.put("remark", whyNot(rule.key(), caller));
                others.add(map);
            } else {
                map.put("mode", PropertyName.of(rules.mode(rule.policy().name())));
                map.put("limit", ConfiguredValue.limit(rule));
                map.put(
                        "parts",
                        rule.key().parts().stream().map(Object::toString).toList());
                addKeys(map, rule, values, caller);
                policies.add(map);
            }
        }
        Map<String, Object> report = new LinkedHashMap<>();
        String address = caller.address();
        if (address != null && AddressRange.anyContains(rules.exemptions().addresses(), PlainKey.address(address))) {
            report.put("remark", "the address is exempt from all policies (ratelimit.exempt.addresses)");
        }
        report.put("policies", policies);
        report.put("others", others);
        return report;
    }

    /** Why a policy has no key that is known to be this caller's. */
    private static String whyNot(BudgetKey key, Caller caller) {
        if (key.isShared()) {
            return key.parts().isEmpty() ? "all callers share its budget" : "all callers share its budgets";
        }
        List<KeyPart> parts =
                key.parts().stream().filter(part -> !part.kind().isOfTarget()).toList();
        List<KeyPart> several =
                parts.stream().filter(part -> caller.sent(part).size() > 1).toList();
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

    /** The key with these values or, if some are not known, those of the most refused keys that have the others. */
    private void addKeys(Map<String, Object> map, Rule rule, List<@Nullable String> values, Caller caller) {
        if (!values.contains(null)) {
            List<String> known = values.stream().map(Objects::requireNonNull).toList();
            map.put("keys", List.of(key(rule, PlainKey.of(rule, rules.sources(), known), caller)));
            return;
        }
        List<@Nullable String> wanted = encoded(rule, values);
        List<Map<String, Object>> found = new ArrayList<>();
        int unreadable = 0;
        for (FrequentKeys.Frequent refused : traffic.mostRefused(rule.policy().name())) {
            PlainKey key = PlainKey.ofCharged(refused.key());
            if (key == null) {
                unreadable++;
            } else if (fits(key.parts(), wanted)) {
                found.add(key(rule, key, caller));
            }
        }
        String open = IntStream.range(0, values.size())
                .filter(i -> values.get(i) == null)
                .mapToObj(i -> rule.key().parts().get(i).toString())
                .collect(Collectors.joining(", "));
        String tooLong =
                "; " + unreadable + (unreadable == 1 ? " of them is" : " of them are") + " too long to be read";
        map.put(
                "remark",
                "only the most refused keys are known, because the question does not say " + open
                        + (unreadable == 0 ? "" : tooLong));
        map.put("keys", found);
    }

    private List<@Nullable String> encoded(Rule rule, List<@Nullable String> values) {
        List<@Nullable String> encoded = new ArrayList<>();
        for (KeyPart part : rule.key().parts()) {
            String value = values.get(encoded.size());
            encoded.add(value == null ? null : PlainKey.part(part, rules.sources(), value));
        }
        return encoded;
    }

    private static boolean fits(List<String> parts, List<@Nullable String> wanted) {
        return parts.size() == wanted.size()
                && IntStream.range(0, parts.size())
                        .allMatch(i -> wanted.get(i) == null || parts.get(i).equals(wanted.get(i)));
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
        traffic.mostRefused(rule.policy().name()).stream()
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
