package dev.ratelimit;

/** What happens under a policy while its store, on another machine, does not answer. */
public enum OnStoreFailure {
    /** Each instance decides alone, in memory. */
    LOCAL,
    /** Fail open: the policy does not apply. */
    ALLOW,
    /** Fail closed: every request is refused with a {@link StoreUnavailableException}. */
    DENY
}
