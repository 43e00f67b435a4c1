package dev.ratelimit.spring;

import dev.ratelimit.Policy;

/** What a key may have under a rule. */
public sealed interface Allowance {

    /**
     * Some limits.
     *
     * @param policy the rule's policy, by name, with the limits that hold for the key
     */
    record Limited(Policy policy) implements Allowance {}

    /** What takes no counting. */
    enum Fixed implements Allowance {
        /** As much as is asked for. */
        UNLIMITED,
        /** Nothing at all. */
        BLOCKED,
        /** As much as is asked for, because it is taken out of all rules. */
        EXEMPT
    }
}
