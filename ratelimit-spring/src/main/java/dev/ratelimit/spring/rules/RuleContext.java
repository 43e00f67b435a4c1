package dev.ratelimit.spring.rules;

import dev.ratelimit.Limit;
import java.util.List;
import java.util.function.Consumer;

/**
 * What all rules have in common.
 *
 * @param keys parses their keys
 * @param resolvers finds the beans that they refer to
 * @param exemptKeys the values of keys that are never charged
 * @param ignoreCase whether values of keys are compared without regard to case
 * @param store throws an {@link IllegalArgumentException} for a limit that the store cannot keep
 */
record RuleContext(
        KeyParser keys, Resolvers resolvers, List<String> exemptKeys, boolean ignoreCase, Consumer<Limit> store) {

    /** Collects overrides, starting with the exempt keys. */
    LimitOverrideParser overrides(BudgetKey key) {
        return new LimitOverrideParser(key, ignoreCase);
    }

    /** Returns the overrides of a rule whose callers all have the same limits. */
    LimitOverrides overrides(BudgetKey key, LimitOverride otherwise) {
        LimitOverrideParser parser = overrides(key);
        exemptKeys.forEach(parser::exempt);
        return parser.parse(otherwise);
    }
}
