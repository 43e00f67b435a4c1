package dev.ratelimit.spring.rules;

import dev.ratelimit.Policy;
import java.util.List;

/**
 * The annotations of an endpoint's handler.
 *
 * @param rules the rules of the endpoint
 * @param exempt whether the endpoint is exempt from all rules
 */
record EndpointRules(List<Rule> rules, boolean exempt) {

    static final EndpointRules NONE = new EndpointRules(List.of(), false);

    boolean areNone() {
        return rules.isEmpty() && !exempt;
    }

    boolean names(Policy policy) {
        for (Rule rule : rules) {
            if (rule.policy().name().equals(policy.name())) {
                return true;
            }
        }
        return false;
    }
}
