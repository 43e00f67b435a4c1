package dev.ratelimit.spring.rules.refusal;

/** The body of a refusal. */
public enum RejectionBody {
    /** Problem details, application/problem+json. */
    PROBLEM,
    /** One line of plain text. */
    TEXT,
    /** No body. */
    NONE
}
