package dev.ratelimit.spring;

/** What becomes of a request that has no value for a part of a policy's key. */
public enum MissingKey {
    /** The policy does not apply to it. */
    SKIP,
    /** It shares one budget with all that have none. */
    SHARED,
    /** Its address takes the place of the value. */
    IP,
    /** It is refused. */
    REJECT
}
