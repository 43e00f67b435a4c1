package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.Policy;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rules of an endpoint.
 *
 * @param rules those that may apply before the handler is called, in the order in which they are asked
 * @param call those that are charged when it is called, because they depend on its arguments
 * @param exempt whether the endpoint is exempt from all rules
 */
public record EndpointRules(List<Rule> rules, List<Rule> call, boolean exempt) {

    public static final EndpointRules NONE = new EndpointRules(List.of(), List.of(), false);

    public boolean areNone() {
        return rules.isEmpty() && call.isEmpty() && !exempt;
    }

    /** Those that may apply at this stage, or at all stages, before the handler is called. */
    List<Rule> at(@Nullable Stage stage) {
        return stage == null
                ? rules
                : rules.stream().filter(rule -> rule.stage() == stage).toList();
    }

    /** Whether one of them is of a policy with the same name. */
    public boolean names(Policy policy) {
        return Stream.concat(rules.stream(), call.stream())
                .anyMatch(rule -> rule.policy().name().equals(policy.name()));
    }

    /**
     * These, and after them the configured ones that all endpoints have. The endpoint has its own cost for a policy that
     * its annotation names.
     */
    public EndpointRules with(List<Rule> configured) {
        Stream<Rule> others = configured.stream().filter(rule -> !rule.match().annotated() && !names(rule.policy()));
        return new EndpointRules(Stream.concat(rules.stream(), others).toList(), call, exempt);
    }
}
