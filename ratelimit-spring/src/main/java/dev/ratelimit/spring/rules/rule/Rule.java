package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.Policy;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.refusal.RefusalFormat;
import dev.ratelimit.spring.rules.refusal.RetryJitter;
import dev.ratelimit.spring.rules.request.Condition;
import dev.ratelimit.spring.rules.request.Cost;
import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.text.PropertyName;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A policy and how it applies: which requests cost how many permits of whose budget, and at which stage. Immutable.
 *
 * @param policy the name and the limits, except for keys with an override
 * @param match which requests it applies to
 * @param key whose budget is charged
 * @param overrides which keys have other limits or none
 * @param cost how many permits a request costs, 0 or more
 * @param stage before or after Spring Security
 * @param free the statuses of free responses; {@code null} if all responses cost
 * @param jitter a random time added to Retry-After if this policy refuses
 * @param format what a refusal by this policy looks like
 * @param onExceeded what happens to a request that this policy refuses
 * @param shadow whether its refusals are only recorded
 */
public record Rule(
        Policy policy,
        RequestMatcher match,
        BudgetKey key,
        LimitOverrides overrides,
        Cost cost,
        Stage stage,
        @Nullable FreeStatuses free,
        RetryJitter jitter,
        RefusalFormat format,
        OnExceeded onExceeded,
        boolean shadow) {

    private static final String CONCURRENCY = "/concurrency";

    /** What the actuator has in place of policies. */
    private static final Set<String> RESERVED = Set.of("explain", "page", "caller", "history", "yaml", "recording");

    /** What follows the name of a policy where the actuator has its overrides. */
    public static final String OVERRIDES = "/overrides";

    /** What follows the name of a policy where the actuator has the trial of another limit of it. */
    public static final String TRIAL = "/trial";

    /** What follows the name of a policy where the actuator has its history. */
    public static final String HISTORY = "/history";

    /** The name of the concurrency limit of a policy that also has a rate. */
    public static String concurrencyOf(String policy) {
        return policy + CONCURRENCY;
    }

    /** The name of the policy with this concurrency limit; any other name remains. */
    public static String withoutConcurrency(String policy) {
        return policy.endsWith(CONCURRENCY) ? policy.substring(0, policy.length() - CONCURRENCY.length()) : policy;
    }

    /**
     * Checks that the actuator can address a policy by its name, which is a part of the path there.
     *
     * @throws IllegalArgumentException if it cannot
     */
    public static void checkName(String policy) {
        if (RESERVED.contains(policy)) {
            throw new IllegalArgumentException("the actuator has something else under /" + policy
                    + ", so a policy must not be called " + Quotation.of(policy) + "; rename it");
        }
        if (policy.endsWith(OVERRIDES)) {
            throw new IllegalArgumentException("the actuator has the overrides of a policy under /policy" + OVERRIDES
                    + ", so the name of a policy must not end with " + OVERRIDES + "; rename it");
        }
        if (policy.endsWith(TRIAL)) {
            throw new IllegalArgumentException("the actuator has the trial of another limit under /policy" + TRIAL
                    + ", so the name of a policy must not end with " + TRIAL + "; rename it");
        }
        if (policy.endsWith(HISTORY)) {
            throw new IllegalArgumentException("the actuator has the history of a policy under /policy" + HISTORY
                    + ", so the name of a policy must not end with " + HISTORY + "; rename it");
        }
        for (String segment : policy.split("/", -1)) {
            if (segment.isEmpty() || segment.equals(".") || segment.equals("..")) {
                throw new IllegalArgumentException("the name " + Quotation.of(policy)
                        + " is not possible in the path of the actuator; rename the policy, without . and .. between"
                        + " slashes, and without slashes at the start, at the end and beside each other");
            }
        }
    }

    /** Whether requests hold their permits until they are complete. */
    public boolean holds() {
        return policy.concurrency();
    }

    /** The same rule at an endpoint that names its policy, with another cost, which may have to wait for the principal. */
    public Rule withCost(Cost other) {
        Stage then = other.needsPrincipal() ? Stage.AFTER_SECURITY : stage;
        return new Rule(
                policy, match.whereAnnotated(), key, overrides, other, then, free, jitter, format, onExceeded, shadow);
    }

    /** The same rule at a place that names its policy, at its own cost. */
    public Rule whereNamed() {
        return withCost(cost);
    }

    /** The same rule, whose refusals are only recorded. */
    public Rule inShadow() {
        return new Rule(policy, match, key, overrides, cost, stage, free, jitter, format, onExceeded, true);
    }

    /** Whether the rule depends on the arguments of the method, so that it can only be charged when they are bound. */
    public boolean needsArguments() {
        return !cost.arguments().isEmpty() || !key.arguments().isEmpty();
    }

    /** Whether its permits do not count requests, so that the application may settle them. */
    public boolean metered() {
        return !cost.isOne() && !holds();
    }

    /** What it depends on whether and what a matching path and method are charged. */
    public Reads reads() {
        Condition when = match.when();
        Reads reads = key.reads().and(overrides.reads()).and(cost.reads());
        return when == null ? reads : reads.and(when.reads());
    }

    /** What callers without a plan have in place of the limits of the policy; {@code null} if they have those. */
    public LimitOverride.@Nullable Fixed fixed() {
        return overrides.otherwise() instanceof LimitOverride.Fixed fixed ? fixed : null;
    }

    /** For people, the limits of callers without a plan: those of the policy, unless they are unlimited or blocked. */
    public List<String> limits() {
        LimitOverride.Fixed fixed = fixed();
        return fixed == null
                ? policy.limits().stream().map(Object::toString).toList()
                : List.of(PropertyName.of(fixed));
    }

    /** The limits of the request. */
    public LimitOverride override(RequestContext context) {
        return overrides.of(context);
    }

    /** How many permits the request costs. */
    public long permitsOf(RequestContext context) {
        return cost.permits().applyAsLong(context);
    }

    /** One line for logs. */
    public String describe() {
        return describe(match.toString());
    }

    /** The same of a policy that no annotation names, only routes do. */
    public String describeWhereRouted() {
        return describe(match.describe("where a route names it"));
    }

    private String describe(String where) {
        String limits = String.join("; ", limits()) + (fixed() == null ? "" : " without a plan,");
        String each = cost.written().equals("1") ? "" : ", " + cost.written() + " permits each";
        String only = free == null ? "" : ", " + free;
        return "'" + policy.name() + "'" + (shadow ? " (shadow)" : "") + ": " + limits + " " + key + ", " + where
                + overrides + each + only + onExceeded;
    }
}
