package dev.ratelimit.spring.config;

import dev.ratelimit.spring.Allowance;
import dev.ratelimit.spring.Allowances;
import dev.ratelimit.spring.RuleKey;
import java.util.List;

/**
 * What all rules have in common.
 *
 * @param keys reads their keys
 * @param resolvers finds the beans that they name
 * @param exemptKeys the values of keys that are never charged
 * @param ignoreCase whether values of keys are equal that differ in case
 * @param store whether the store can keep their limits
 */
record RuleContext(KeyParser keys, Resolvers resolvers, List<String> exemptKeys, boolean ignoreCase, LimitCheck store) {

    /** Collects who may have other limits than all others; those who are exempt are in it. */
    AllowanceParser allowances(RuleKey key) {
        return new AllowanceParser(key, ignoreCase);
    }

    /** Who may have what, where everybody may have the same. */
    Allowances allowances(RuleKey key, Allowance otherwise) {
        AllowanceParser parser = allowances(key);
        exemptKeys.forEach(parser::exempt);
        return parser.parse(otherwise);
    }
}
