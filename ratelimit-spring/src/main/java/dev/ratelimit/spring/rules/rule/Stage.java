package dev.ratelimit.spring.rules.rule;

/** Where in the filter chain a policy is applied. */
public enum Stage {
    /**
     * Before Spring Security, unless the key, the plan or a condition needs something that is known only after it: the
     * principal, a session, a claim, an expression or a bean.
     */
    AUTO,
    /** Before Spring Security, so that requests that it refuses are also charged. */
    BEFORE_SECURITY,
    /** After Spring Security, so that the user is known. */
    AFTER_SECURITY
}
