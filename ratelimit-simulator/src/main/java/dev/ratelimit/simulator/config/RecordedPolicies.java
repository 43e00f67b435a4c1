package dev.ratelimit.simulator.config;

import dev.ratelimit.simulator.recording.Recording;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Policies that are tried out on recorded requests. If they concern the same requests and the same keys as in the
 * application, what it has found out decides; otherwise, what the recording has of requests.
 */
final class RecordedPolicies {

    private final Recording recording;

    RecordedPolicies(Recording recording) {
        this.recording = recording;
    }

    /** Those of the configuration, and those that annotations have written out. */
    Map<String, PolicyProperties> withAnnotated(Map<String, PolicyProperties> written) {
        Map<String, PolicyProperties> all = new LinkedHashMap<>(written);
        recording.policies().forEach((name, recorded) -> {
            if (recorded.annotated() && !written.containsKey(Rule.withoutConcurrency(name))) {
                all.putIfAbsent(name, ChangedPolicy.annotated(recorded));
            }
        });
        return all;
    }

    /**
     * The same policies, decided by what was recorded of them.
     *
     * @param rules of the policies as they are written
     * @param others gets the policies that are not as recorded
     */
    Map<String, PolicyProperties> asRecorded(
            Map<String, PolicyProperties> written, Map<String, Rule> rules, List<String> others) {
        Map<String, PolicyProperties> all = new LinkedHashMap<>();
        written.forEach((name, policy) -> {
            Rule rule = rules.get(name);
            Recording.Policy recorded = recording.policies().get(name);
            if (rule != null && recorded != null && isSame(rule, recorded)) {
                all.put(name, ChangedPolicy.asRecorded(policy, name, rule, recorded));
            } else {
                if (recorded != null) {
                    others.add(name);
                }
                boolean plans = !policy.plans().isEmpty() && policy.planResolver() == null;
                all.put(name, plans ? ChangedPolicy.withPlanResolver(policy, StandInBeans.PLANS) : policy);
            }
        });
        return all;
    }

    private static boolean isSame(Rule rule, Recording.Policy recorded) {
        return recorded.key()
                        .equals(rule.key().parts().stream()
                                .map(KeyPart::toString)
                                .toList())
                && recorded.missingKey().equals(PropertyName.of(rule.key().missing()))
                && recorded.applies().equals(rule.match().toString());
    }

    /** The rules that are decided by paths, of which a recording has patterns alone. */
    Map<String, Rule> byPaths(Map<String, Rule> rules) {
        Map<String, Rule> all = new LinkedHashMap<>();
        rules.forEach((name, rule) -> {
            Recording.Policy recorded = recording.policies().get(name);
            boolean any =
                    rule.match().paths().isEmpty() && rule.match().exceptPaths().isEmpty();
            if (!any && (recorded == null || !isSame(rule, recorded))) {
                all.put(name, rule);
            }
        });
        return all;
    }

    /**
     * What a recording lacks of policies, by policy: the paths of others than the recorded ones and, with a share of callers,
     * requests of others whose keys are the same.
     */
    Map<String, List<String>> lack(Map<String, Rule> rules, Set<String> included, RecordedPaths paths) {
        Map<String, List<String>> without = new LinkedHashMap<>();
        byPaths(rules).forEach((name, rule) -> {
            Set<String> undecided = paths.undecidedBy(rule.match());
            if (!included.contains(name) && !undecided.isEmpty()) {
                without.put(
                        Rule.withoutConcurrency(name),
                        new ArrayList<>(List.of("the paths of requests to " + String.join(" and ", undecided))));
            }
        });
        if (recording.share() < 1) {
            rules.forEach((name, rule) -> {
                if (!included.contains(name) && !isOfCaller(rule)) {
                    without.computeIfAbsent(Rule.withoutConcurrency(name), none -> new ArrayList<>())
                            .add("requests of other callers (ratelimit.recording.share is " + recording.share() + ")");
                }
            });
        }
        return without;
    }

    /** Whether all requests with the same key are of the same caller, by whom it was decided what is recorded. */
    private boolean isOfCaller(Rule rule) {
        return rule.key().parts().stream()
                .anyMatch(part -> part.isUser() || (part.kind() == KeyKind.IP && !recording.users()));
    }
}
