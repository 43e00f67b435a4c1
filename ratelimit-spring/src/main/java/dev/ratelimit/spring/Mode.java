package dev.ratelimit.spring;

/** Whether a policy is applied. */
public enum Mode {
    /** Requests beyond the limit are refused. */
    ENFORCE,
    /**
     * Requests beyond the limit are counted and logged, but not refused, and callers see nothing of the policy. Each such
     * policy decides as if it were enforced beside the enforced ones, so its counts show whom it would refuse.
     */
    SHADOW,
    /** The policy has no effect. */
    OFF
}
