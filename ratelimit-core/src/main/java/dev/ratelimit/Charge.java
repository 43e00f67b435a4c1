package dev.ratelimit;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The permits that a request takes under one policy. Immutable and reusable.
 *
 * @param policy whose limits decide
 * @param key whose budget; the empty string if all callers share one
 * @param permits how many, 0 or more; 0 only asks
 */
public record Charge(Policy policy, String key, long permits) {

    /** The maximum number of charges that are compared pairwise. */
    private static final int FEW = 8;

    /**
     * Validates the permits.
     *
     * @param policy whose limits decide
     * @param key whose budget; the empty string if all callers share one
     * @param permits how many, 0 or more; 0 only asks
     * @throws IllegalArgumentException if {@code permits} is negative
     */
    public Charge {
        if (permits < 0) {
            throw new IllegalArgumentException("permits must be at least 0 but was " + permits);
        }
    }

    /**
     * {@return whether both charges take permits from the same budget: of the same key, and a policy of the same name}
     *
     * @param other a charge of any policy
     */
    public boolean sameBudget(Charge other) {
        return policy.name().equals(other.policy.name()) && key.equals(other.key);
    }

    /**
     * {@return the same charge with more permits, at most {@link Long#MAX_VALUE}}
     *
     * @param more how many to add, 0 or more
     * @throws IllegalArgumentException if {@code more} is negative
     */
    public Charge plus(long more) {
        if (more < 0) {
            throw new IllegalArgumentException("more must be at least 0 but was " + more);
        }
        long sum = permits + more;
        return new Charge(policy, key, sum < 0 ? Long.MAX_VALUE : sum);
    }

    /**
     * {@return the charges as a store takes them: charges to the same budget are added up into the first of them} Only
     * the limits of that one are asked, also if its policy and another one of the same name have different limits.
     *
     * @param charges in any order; may be empty
     */
    public static List<Charge> addUp(List<Charge> charges) {
        List<Charge> all = List.copyOf(charges);
        if (distinct(all)) {
            return all;
        }
        Map<Budget, Charge> sums = new LinkedHashMap<>();
        for (Charge charge : all) {
            Budget budget = new Budget(charge.policy.name(), charge.key);
            sums.merge(budget, charge, (sum, more) -> sum.plus(more.permits));
        }
        return List.copyOf(sums.values());
    }

    private static boolean distinct(List<Charge> charges) {
        if (charges.size() > FEW) {
            return false;
        }
        for (int i = 1; i < charges.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (charges.get(i).sameBudget(charges.get(j))) {
                    return false;
                }
            }
        }
        return true;
    }

    private record Budget(String policy, String key) {}
}
