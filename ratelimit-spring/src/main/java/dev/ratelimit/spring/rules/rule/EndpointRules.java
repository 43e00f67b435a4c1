package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.Policy;
import java.util.List;

/**
 * The annotations of an endpoint's handler.
 *
 * @param rules the rules that are charged before the handler is called
 * @param call those that are charged when it is called, because they depend on its arguments
 * @param exempt whether the endpoint is exempt from all rules
 */
public record EndpointRules(List<Rule> rules, List<Rule> call, boolean exempt) {

    public static final EndpointRules NONE = new EndpointRules(List.of(), List.of(), false);

    public boolean areNone() {
        return rules.isEmpty() && call.isEmpty() && !exempt;
    }

    public boolean names(Policy policy) {
        return include(rules, policy) || include(call, policy);
    }

    private static boolean include(List<Rule> rules, Policy policy) {
        for (int i = 0; i < rules.size(); i++) {
            if (rules.get(i).policy().name().equals(policy.name())) {
                return true;
            }
        }
        return false;
    }
}
