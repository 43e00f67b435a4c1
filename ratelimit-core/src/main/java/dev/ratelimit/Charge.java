package dev.ratelimit;

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
}
