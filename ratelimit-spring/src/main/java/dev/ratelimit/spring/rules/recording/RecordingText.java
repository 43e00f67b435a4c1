package dev.ratelimit.spring.rules.recording;

import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.history.ConfiguredValue;
import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.rule.PlainKey;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.web.util.pattern.PathPattern;

/** Writes what was recorded as lines of JSON, with hashes in place of keys. Not thread-safe. */
final class RecordingText {

    /** The version of the form. */
    private static final int VERSION = 1;

    private final UnaryOperator<String> hash;

    /** Of the keys that were written, as most come again. */
    private final Map<String, String> hashes = new HashMap<>();

    private final StringBuilder json = new StringBuilder();

    RecordingText(UnaryOperator<String> hash) {
        this.hash = hash;
    }

    /** The first line, about the policies. */
    String heading(
            Collection<RecordedRequest> requests, RulesInForce rules, boolean stages, double share, long forgotten) {
        Map<String, Set<String>> overrides = new TreeMap<>();
        for (RecordedRequest request : requests) {
            for (RecordedCharge charge : request.charges()) {
                String override = charge.override();
                if (override != null) {
                    overrides
                            .computeIfAbsent(charge.policy(), none -> new TreeSet<>())
                            .add(override);
                }
            }
        }
        json.setLength(0);
        json.append("{\"recording\":").append(VERSION);
        json.append(",\"requests\":").append(requests.size());
        json.append(",\"forgotten\":").append(forgotten);
        json.append(",\"share\":").append(share);
        json.append(",\"users\":").append(requests.stream().anyMatch(request -> request.user() != null));
        json.append(",\"stages\":").append(stages);
        json.append(",\"policies\":{");
        String separator = "";
        for (Map.Entry<String, Rule> entry : new TreeMap<>(rules.byPolicy()).entrySet()) {
            json.append(separator);
            quote(entry.getKey());
            json.append(':');
            policy(entry.getValue(), overrides.getOrDefault(entry.getKey(), Set.of()));
            separator = ",";
        }
        return json.append("}}").toString();
    }

    private void policy(Rule rule, Set<String> overrides) {
        List<Limit> limits = rule.policy().limits();
        json.append('{');
        property("limit", ConfiguredValue.rates(limits), "");
        property("algorithm", algorithm(limits.get(0)), ",");
        Long burst = burst(limits);
        if (burst != null) {
            json.append(",\"burst\":").append(burst);
        }
        list("key", rule.key().parts().stream().map(KeyPart::toString).toList());
        property("missingKey", PropertyName.of(rule.key().missing()), ",");
        property("applies", rule.match().toString(), ",");
        property("permits", rule.cost().written(), ",");
        json.append(",\"annotated\":").append(rule.match().annotated());
        list("overrides", overrides);
        json.append('}');
    }

    private static String algorithm(Limit limit) {
        return Stream.of(Algorithm.values())
                .map(Algorithm::toString)
                .filter(name -> limit.toString().matches(".*\\(" + name + "[,)].*"))
                .findFirst()
                .orElse("");
    }

    /** How many permits a bucket holds; {@code null} if that is one period's. */
    private static @Nullable Long burst(List<Limit> limits) {
        Limit only = limits.get(0);
        boolean same = only.concurrency() || only.capacity() == only.rate().permits();
        return limits.size() > 1 || same ? null : only.capacity();
    }

    /** A line about a request. */
    String line(RecordedRequest request) {
        json.setLength(0);
        json.append('{');
        property(
                "time", Instant.ofEpochSecond(0, request.arrival().epochNanos()).toString(), "");
        property("method", request.method(), ",");
        property("path", pathOf(request), ",");
        if (request.isRefused()) {
            json.append(",\"refused\":true");
        } else {
            json.append(",\"status\":").append(request.status());
            json.append(",\"duration_ns\":").append(request.tookNanos());
        }
        property("address", hashed(valueOf(request.address())), ",");
        String user = request.user();
        if (user != null) {
            property("user", hashed(valueOf(user)), ",");
        }
        json.append(",\"policies\":{");
        Set<String> written = new TreeSet<>();
        for (RecordedCharge charge : request.charges()) {
            // a call may charge several budgets of one policy
            if (written.add(charge.policy())) {
                json.append(written.size() == 1 ? "" : ",");
                charge(charge);
            }
        }
        return json.append("}}").toString();
    }

    private void charge(RecordedCharge charge) {
        quote(charge.policy());
        json.append(":{\"permits\":").append(charge.permits());
        String key = charge.key();
        if (key != null) {
            property("key", shown(charge.kinds(), key), ",");
        }
        String plan = charge.plan();
        if (plan != null) {
            property("plan", plan, ",");
        }
        String override = charge.override();
        if (override != null) {
            property("override", override, ",");
        }
        json.append('}');
    }

    /** Values that say what is requested as they are, and all others as hashes. */
    private String shown(List<KeyKind> kinds, String key) {
        List<String> values = kinds.isEmpty() ? List.of() : PlainKey.valuesOf(kinds, key);
        if (values == null || values.size() != kinds.size()) {
            return hashed(key);
        }
        List<String> shown = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            shown.add(kinds.get(i).isOfTarget() ? values.get(i) : hashed(values.get(i)));
        }
        return String.join(" ", shown);
    }

    /** The value of a key of one part, so that it has the hash that it has in other keys. */
    private static String valueOf(String key) {
        return key.substring(key.indexOf(':') + 1);
    }

    private String hashed(String key) {
        return hashes.computeIfAbsent(key, hash);
    }

    private static String pathOf(RecordedRequest request) {
        PathPattern pattern = request.endpoint().pattern();
        return pattern == null ? "/" + request.endpoint().id() : pattern.getPatternString();
    }

    /** Such as {@code 100/minute burst 200}. */
    static String limits(List<Limit> limits) {
        Long burst = burst(limits);
        String rates = ConfiguredValue.rates(limits);
        return burst == null ? rates : rates + " burst " + burst;
    }

    private void property(String name, String value, String separator) {
        json.append(separator).append('"').append(name).append("\":");
        quote(value);
    }

    private void list(String name, Collection<String> values) {
        json.append(",\"").append(name).append("\":[");
        String separator = "";
        for (String value : values) {
            json.append(separator);
            quote(value);
            separator = ",";
        }
        json.append(']');
    }

    private void quote(String text) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }
}
