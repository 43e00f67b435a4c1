package dev.ratelimit;

/** What holds for a policy while its store, on some other machine, does not answer. */
public enum OnStoreFailure {
    /** Each instance decides by itself, in memory. */
    LOCAL,
    /** The policy does not apply: everybody passes. */
    ALLOW,
    /** Nobody passes: {@link StoreUnavailableException}. */
    DENY
}
