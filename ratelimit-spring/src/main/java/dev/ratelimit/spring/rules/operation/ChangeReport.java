package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.decision.PolicyVersion;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a change makes of a policy, and what becomes of its bursts and of those who are under way, for JSON.
 *
 * @param policy its name
 * @param change what was asked for
 * @param before the policy before
 * @param after the rules with the change
 * @param paths what is to be known of a path
 * @param overrides how many overrides of single keys the policy has, perhaps since it was in force before
 */
record ChangeReport(
        String policy,
        RateLimitChange change,
        PolicyVersion before,
        RulesInForce after,
        Function<String, @Nullable String> paths,
        long overrides) {

    /** All but the plans. */
    private static final List<Function<RateLimitChange, @Nullable Object>> PROPERTIES = List.of(
            RateLimitChange::limit,
            RateLimitChange::burst,
            RateLimitChange::mode,
            RateLimitChange::penalty,
            RateLimitChange::maxWait,
            RateLimitChange::paths);

    /** Adds what the policy was and is, and what is to be known of that, to the description of the policy. */
    @CanIgnoreReturnValue
    Map<String, Object> addTo(Map<String, Object> description) {
        description.put("from", before.toString());
        description.put("to", after.version(policy).toString());
        String remark = String.join(". ", remarks());
        if (!remark.isEmpty()) {
            description.put("remark", remark);
        }
        return description;
    }

    private List<String> remarks() {
        List<String> remarks = new ArrayList<>();
        List<Limit> limits = after.version(policy).limits();
        if (!limits.isEmpty()) {
            add(remarks, "", burst(limits, change.limit(), change.burst()));
        }
        boolean comesOrGoes = (before.mode() == Mode.OFF) != (after.mode(policy) == Mode.OFF);
        boolean comparable = !limits.isEmpty() && !before.limits().isEmpty();
        if (comparable && !comesOrGoes && !limits.equals(before.limits())) {
            add(remarks, "", atOnce(limits));
            add(remarks, "", ranks(limits));
        }
        if (comesOrGoes && overrides > 0 && before.mode() == Mode.OFF) {
            remarks.add("overrides of " + overrides + (overrides == 1 ? " key" : " keys")
                    + " under this policy, from when it was in force before, apply again");
        }
        change.plans().forEach((plan, own) -> {
            if (after.rule(policy).overrides().plans().get(plan) instanceof LimitOverride.Limited limited) {
                add(remarks, "for plan " + plan + ", ", burst(limited.policy().limits(), own.limit(), own.burst()));
            }
        });
        if (change.paths() != null) {
            after.rule(policy).match().paths().texts().forEach(path -> add(remarks, "", paths.apply(path)));
        }
        add(remarks, "", afterwards());
        if (change.maxWait() != null) {
            remarks.add(
                    "requests that already wait keep the time that they have, unless their permits take longer than the"
                            + " new one");
        }
        return remarks;
    }

    /** What an operator has changed before does not come back. */
    private @Nullable String afterwards() {
        RateLimitChange earlier = before.change();
        boolean ends = change.duration() != null || change.until() != null;
        return ends && earlier != null && replaces(earlier)
                ? "at its end, what the configuration says is in force again, and not " + before
                : null;
    }

    private boolean replaces(RateLimitChange earlier) {
        return PROPERTIES.stream()
                        .anyMatch(property -> property.apply(change) != null && property.apply(earlier) != null)
                || !Collections.disjoint(
                        change.plans().keySet(), earlier.plans().keySet());
    }

    private static void add(List<String> remarks, String where, @Nullable String remark) {
        if (remark != null) {
            remarks.add(where + remark);
        }
    }

    /** What becomes of a burst that a change of the limit does not name. */
    private static @Nullable String burst(List<Limit> limits, @Nullable String limit, @Nullable Long changed) {
        Long burst = PolicyReport.burst(limits);
        if (limit == null || changed != null || burst == null) {
            return null;
        }
        String rate = limits.get(0).rate().toString();
        return "the burst is still " + burst
                + (burst > limits.get(0).rate().permits()
                        ? ", so a key with a full bucket is admitted " + burst + " at once, and only then " + rate
                        : ", so at most that many are admitted at once, although the limit is " + rate)
                + "; change it as well, to 0 for the permits of one period";
    }

    /** What a key that has used nothing may do at once, if that is something else than before. */
    private @Nullable String atOnce(List<Limit> limits) {
        long was = capacity(before.limits());
        long is = capacity(limits);
        if (was == is) {
            return null;
        }
        return limits.get(0).concurrency()
                ? "a key may have " + is + " requests at once, before " + was
                        + "; those under way go on, and others are admitted when there are fewer"
                : "a key with a full budget is admitted " + is + " at once, before " + was
                        + "; what keys have used stays used, in proportion";
    }

    /** What becomes of limits if their number changes: states are kept by the rank of the period. */
    private @Nullable String ranks(List<Limit> limits) {
        List<Limit> was = byRank(before.limits());
        List<Limit> is = byRank(limits);
        if (was.size() == is.size()) {
            return null;
        }
        List<String> remarks = new ArrayList<>();
        for (int rank = 0; rank < Math.max(was.size(), is.size()); rank++) {
            if (rank >= was.size()) {
                remarks.add(is.get(rank) + " begins full for every key");
            } else if (rank >= is.size()) {
                remarks.add("what keys have used of " + was.get(rank) + " is forgotten");
            } else if (periodOf(is.get(rank)) != periodOf(was.get(rank))) {
                remarks.add(is.get(rank) + " takes over from " + was.get(rank));
            }
        }
        return String.join(", ", remarks);
    }

    private List<Limit> byRank(List<Limit> limits) {
        Policy list = new Policy(policy, limits);
        Limit[] byRank = new Limit[limits.size()];
        for (int i = 0; i < byRank.length; i++) {
            byRank[list.rank(i)] = limits.get(i);
        }
        return List.of(byRank);
    }

    private static long periodOf(Limit limit) {
        return limit.rate().periodNanos();
    }

    private static long capacity(List<Limit> limits) {
        return limits.stream().mapToLong(Limit::capacity).min().orElseThrow();
    }
}
