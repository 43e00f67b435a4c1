package dev.ratelimit.spring.rules.key;

/** What happens to a request without a value for a part of a policy's key. */
public enum MissingKey {
    /** The policy does not apply to the request. */
    SKIP,
    /** The request shares one budget with all others that have no value. */
    SHARED,
    /** The client's address replaces the value. */
    IP,
    /** The request is refused. */
    REJECT
}
