package dev.ratelimit;

import java.util.ArrayList;
import java.util.List;

/**
 * What a request is to pay under one policy. Immutable; may be kept and used again.
 *
 * @param policy whose limits
 * @param key whose budget; the empty string where all share one
 * @param permits how many; 0 only asks
 */
public record Charge(Policy policy, String key, long permits) {

    /** Checks the permits. */
    public Charge {
        if (permits < 0) {
            throw new IllegalArgumentException("permits must be at least 0 but was " + permits);
        }
    }

    /** Whether both are paid from the same budget. */
    public boolean sameBudget(Charge other) {
        return policy.name().equals(other.policy.name()) && key.equals(other.key);
    }

    /** The same with more permits, at most {@link Long#MAX_VALUE}. */
    public Charge plus(long more) {
        long sum = permits + more;
        return new Charge(policy, key, sum < 0 ? Long.MAX_VALUE : sum);
    }

    /** The charges as a store takes them: those of the same budget added up into the first of them. */
    public static List<Charge> addUp(List<Charge> charges) {
        if (distinct(charges)) {
            return charges;
        }
        List<Charge> distinct = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            int same = 0;
            while (same < distinct.size() && !distinct.get(same).sameBudget(charge)) {
                same++;
            }
            if (same == distinct.size()) {
                distinct.add(charge);
            } else {
                distinct.set(same, distinct.get(same).plus(charge.permits()));
            }
        }
        return distinct;
    }

    private static boolean distinct(List<Charge> charges) {
        for (int i = 1; i < charges.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (charges.get(i).sameBudget(charges.get(j))) {
                    return false;
                }
            }
        }
        return true;
    }
}
