package dev.ratelimit.spring.rules.config;

import dev.ratelimit.Limit;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.key.KeyParser;
import dev.ratelimit.spring.rules.key.Resolvers;
import dev.ratelimit.spring.rules.refusal.RefusalFormat;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.LimitOverrides;
import dev.ratelimit.spring.rules.rule.WatchedResults;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * What all rules have in common.
 *
 * @param keys parses their keys
 * @param resolvers finds the beans that they refer to
 * @param exemptKeys the values of keys that are never charged
 * @param format what refusals look like, unless a policy says something else
 * @param ignoreCase whether values of keys are compared without regard to case
 * @param store throws an {@link IllegalArgumentException} for a limit that the store cannot keep
 * @param results which results of methods tell when their work ends
 * @param changes what replaces the limits and modes of policies, by policy
 * @param algorithms what replaces the algorithms of policies, by policy
 */
record RuleContext(
        KeyParser keys,
        Resolvers resolvers,
        List<String> exemptKeys,
        RefusalFormat format,
        boolean ignoreCase,
        Consumer<Limit> store,
        WatchedResults results,
        Map<String, RateLimitChange> changes,
        Map<String, String> algorithms) {

    static final RateLimitChange NONE = new RateLimitChange(null, null, null);

    /** What replaces the limit and the mode of a policy. */
    RateLimitChange changeOf(String policy) {
        return changes.getOrDefault(policy, NONE);
    }

    /**
     * What replaces the limit and the mode of a policy that has nothing else.
     *
     * @param what the policy is, and where the rest is to be changed
     * @throws RateLimitConfigurationException if a change concerns something else
     */
    RateLimitChange changeOfLimit(String policy, String what) {
        RateLimitChange change = changeOf(policy);
        String foreign = change.penalty() != null
                ? "penalty"
                : change.maxWait() != null
                        ? "on-exceeded.max-wait"
                        : change.paths() != null
                                ? "match.paths"
                                : change.plans().isEmpty() ? null : "plans";
        if (foreign != null) {
            throw Section.ofPolicy(policy).mistake(foreign, null, what);
        }
        return change;
    }

    /** The algorithm of a policy. */
    String algorithmOf(String policy, String written) {
        return algorithms.getOrDefault(policy, written);
    }

    /** Whether a policy is applied. */
    Mode modeOf(String policy, Mode written) {
        return modeAfter(changeOf(policy), written);
    }

    /** Whether a policy is applied after a change: one that is off is in force on the paths that it is given. */
    static Mode modeAfter(RateLimitChange change, Mode written) {
        Mode given = change.paths() != null && written == Mode.OFF ? Mode.ENFORCE : written;
        return Objects.requireNonNullElse(change.mode(), given);
    }

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
