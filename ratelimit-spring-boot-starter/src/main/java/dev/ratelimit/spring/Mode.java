package dev.ratelimit.spring;

/** Whether a policy is applied. */
public enum Mode {
    /** Requests beyond the limit are refused. */
    ENFORCE,
    /** As if the policy were not there. */
    OFF
}
