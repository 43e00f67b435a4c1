package dev.ratelimit.spring.web;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.spring.Rule;
import java.util.ArrayList;
import java.util.List;

/** The rules that apply to one request, and what it pays to each. Not thread-safe. */
final class AppliedRules {

    private final List<Rule> rules = new ArrayList<>(4);
    private final List<Charge> charges = new ArrayList<>(4);

    void add(Rule rule, Charge charge) {
        rules.add(rule);
        charges.add(charge);
    }

    boolean isEmpty() {
        return rules.isEmpty();
    }

    List<Charge> charges() {
        return charges;
    }

    /** The rule whose limit this is. */
    Rule ruleOf(LimitStatus status) {
        for (Rule rule : rules) {
            if (rule.policy().name().equals(status.policy().name())) {
                return rule;
            }
        }
        throw new IllegalStateException(
                "no rule was applied for policy " + status.policy().name());
    }
}
