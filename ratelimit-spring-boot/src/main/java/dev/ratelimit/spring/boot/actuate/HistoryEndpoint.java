package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.rules.history.ChangeHistory;
import dev.ratelimit.spring.rules.operation.LiveChanges;
import dev.ratelimit.spring.rules.override.KeyOverrides;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The part of the endpoint about what was done, and what is to be configured to keep what is in force. */
public record HistoryEndpoint(ChangeHistory history, LiveChanges changes, KeyOverrides overrides) {

    /** In place of a policy's name. */
    static final String ALL = "history";

    private static final int ENTRIES = 100;

    /** Whether the rest of the path names the history of a policy, or of all. */
    static boolean isAt(@Nullable String name) {
        return name != null && (name.equals(ALL) || name.endsWith(Rule.HISTORY));
    }

    /** The history of a policy, or of all. */
    Map<String, Object> read(String name, SentArguments parameters, boolean showKeys) {
        String policy = name.equals(ALL) ? null : name.substring(0, name.length() - Rule.HISTORY.length());
        String limit = parameters.only("limit");
        return history.report(
                policy,
                limit == null ? ENTRIES : numberOf(limit),
                (keyOf, key) -> overrides.show(keyOf, key, showKeys));
    }

    private static int numberOf(String limit) {
        try {
            return Integer.parseInt(limit.strip());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "limit must be a number of entries, such as 100, but was " + Quotation.of(limit), e);
        }
    }

    /** The policies in force as YAML: those that differ from their configuration, or all. */
    String yaml(SentArguments parameters, boolean showKeys) {
        boolean all = new WrittenChange(parameters::only).isTrue("all");
        List<String> comments = new ArrayList<>();
        new TreeMap<>(changes.report())
                .forEach((policy, changed) -> changed.forEach(change -> comments.add(policy + ": " + change)));
        comments.add(
                0,
                comments.isEmpty()
                        ? "All policies are as configured."
                        : "After a deployment of this, remove the changes by {\"restore\": true}.");
        return PolicyYaml.of(history.policies(all), showKeys, comments);
    }
}
