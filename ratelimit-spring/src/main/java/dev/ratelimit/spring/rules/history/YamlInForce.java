package dev.ratelimit.spring.rules.history;

import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitPolicies.OverriddenKey;
import dev.ratelimit.spring.rules.config.ChangedPolicy;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.rule.Rule;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the policies in force as their configuration would have to be, to be copied there.
 *
 * @param policies as they are configured
 * @param changes what replaces the configuration, by policy
 * @param details what is known of these changes
 * @param overrides of keys in force, by policy; in the order of their names
 * @param keys shows their keys
 */
record YamlInForce(
        Map<String, PolicyProperties> policies,
        Map<String, RateLimitChange> changes,
        List<ChangedProperty> details,
        SortedMap<String, List<OverriddenKey>> overrides,
        ChangeHistory.ShownKeys keys) {

    private static final String ALONE = " of the concurrency limit alone";
    private static final String NO_PROPERTY = "; the configuration has no such property";

    private static final RateLimitChange NOTHING = new RateLimitChange(null, null, null);

    /**
     * Writes them.
     *
     * @param all whether also those that are as configured
     * @param showKeys whether to show the keys of configured overrides
     */
    String write(boolean all, boolean showKeys) {
        YamlText yaml = new YamlText();
        Map<String, PolicyProperties> written = new TreeMap<>(policies);
        written.keySet().removeIf(policy -> !all && differences(policy).isEmpty());
        List<String> annotated = annotated();
        yaml.comment(
                written.isEmpty()
                        ? (annotated.isEmpty() ? "All policies" : "All policies of the configuration")
                                + " are as configured."
                        : (all ? "All policies" : "The policies that differ from their configuration")
                                + ", as they are in force. After a deployment of them, remove the changes by"
                                + " {\"restore\": true}.");
        annotated.forEach(yaml::comment);
        if (!written.isEmpty()) {
            yaml.group(
                    "ratelimit",
                    () -> yaml.group(
                            "policies",
                            () -> written.forEach((name, policy) -> yaml.entry(name, () -> {
                                differences(name).forEach(yaml::comment);
                                new PolicyYaml(yaml, showKeys)
                                        .write(ChangedPolicy.of(
                                                policy,
                                                changes.getOrDefault(name, NOTHING),
                                                changes.getOrDefault(Rule.concurrencyOf(name), NOTHING)));
                            }))));
        }
        return yaml.toString();
    }

    /** How policies that are written out in annotations differ from these, for people. */
    private List<String> annotated() {
        return Stream.concat(
                        details.stream()
                                .filter(detail -> isAnnotated(detail.policy()))
                                .map(detail -> annotated(detail.policy(), of(detail, detail.shown()))),
                        overrides.keySet().stream()
                                .filter(this::isAnnotated)
                                .flatMap(policy -> overrides(policy, "").map(one -> annotated(policy, one))))
                .toList();
    }

    private boolean isAnnotated(String policy) {
        return !policies.containsKey(policy) && !policies.containsKey(Rule.withoutConcurrency(policy));
    }

    private static String annotated(String policy, String difference) {
        return "The policy " + policy + " is written out in an annotation. " + difference;
    }

    /** How a policy differs from its configuration, for people. */
    private List<String> differences(String policy) {
        String half = Rule.concurrencyOf(policy);
        return Stream.of(
                        details.stream()
                                .filter(detail -> detail.policy().equals(policy))
                                .map(detail -> of(detail, detail.shown())),
                        details.stream()
                                .filter(detail -> detail.policy().equals(half))
                                .map(detail -> detail.name().equals("limit")
                                        ? of(detail, "concurrency")
                                        : of(detail, detail.shown() + ALONE) + NO_PROPERTY),
                        overrides(policy, ""),
                        overrides(half, ALONE).map(one -> one + NO_PROPERTY))
                .flatMap(lines -> lines)
                .toList();
    }

    private static String of(ChangedProperty detail, String property) {
        ChangeNote note = detail.note();
        return property + ": " + detail.value()
                + by(note.by(), ChangeNote.instant(detail.at()), note.end(), note.reason())
                + (note.configured().isEmpty() ? "" : "; configured was " + note.configured());
    }

    private Stream<String> overrides(String policy, String what) {
        return overrides.getOrDefault(policy, List.of()).stream()
                .map(one -> "Override of key " + keys.show(policy, one.key()) + what + ": " + one.limit()
                        + by(one.by(), one.since(), one.until(), one.reason()));
    }

    private static String by(String who, Instant since, @Nullable Instant until, @Nullable String reason) {
        return Stream.of(
                        ", by " + who + " at " + since,
                        until == null ? "" : ", until " + until,
                        reason == null || reason.isEmpty() ? "" : ", because of " + reason)
                .collect(Collectors.joining());
    }
}
