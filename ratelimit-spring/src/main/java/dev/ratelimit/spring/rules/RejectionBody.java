package dev.ratelimit.spring.rules;

/** The body of a refusal. */
enum RejectionBody {
    /** Problem details, application/problem+json. */
    PROBLEM,
    /** One line of plain text. */
    TEXT,
    /** No body. */
    NONE
}
