package dev.ratelimit.spring;

/** What the body of a refusal consists of. */
public enum RejectionBody {
    /** Problem details, application/problem+json. */
    PROBLEM,
    /** One line of plain text. */
    TEXT,
    /** Nothing. */
    NONE
}
