package dev.ratelimit.spring.web;

import java.util.Locale;

/** What became of a request under one policy. */
public enum Outcome {
    /** It was charged, and admitted. */
    ADMITTED,
    /** The policy refused it. */
    REFUSED,
    /** It is exempt from all policies, or its key is. */
    EXEMPT,
    /** Its key has no limit. */
    UNLIMITED,
    /** Its store did not answer, and nobody passes the policy then. */
    UNAVAILABLE;

    /** The name in metrics. */
    public String tag() {
        return name().toLowerCase(Locale.ROOT);
    }
}
