package dev.ratelimit.spring;

/** Whether a policy is applied. */
public enum Mode {
    /** Requests beyond the limit are refused. */
    ENFORCE,
    /** The policy has no effect. */
    OFF
}
