package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;

/** The limits of some keys under a rule, in place of those of the policy. */
public sealed interface LimitOverride {

    /**
     * Other limits.
     *
     * @param policy the rule's policy, by name, with the limits of the key
     * @param shared one permit of the budget that all callers share, the same object for all requests
     */
    record Limited(Policy policy, Charge shared) implements LimitOverride {

        /** The limits of this policy. */
        public Limited(Policy policy) {
            this(policy, policy.charge());
        }

        /** The charge for this key. */
        public Charge charge(String key, long permits) {
            return key.isEmpty() && permits == 1 ? shared : policy.charge(key, permits);
        }
    }

    /** Overrides that need no counting. */
    enum Fixed implements LimitOverride {
        /** No limit. */
        UNLIMITED,
        /** No requests at all. */
        BLOCKED,
        /** No limit, because the key is exempt from all rules. */
        EXEMPT
    }
}
