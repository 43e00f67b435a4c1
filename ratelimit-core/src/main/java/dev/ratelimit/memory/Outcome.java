package dev.ratelimit.memory;

/** The result of an attempt to charge. */
enum Outcome {
    ADMITTED,
    REFUSED,
    /** The key is no longer there. */
    GONE,
    /** The key has another limit. */
    OTHER_LIMIT,
    /** Another thread interfered: try again. */
    CONTENDED,
    /** A {@link Transaction} must decide. */
    UNDECIDED;

    /** Whether it is a decision. */
    boolean decided() {
        return this == ADMITTED || this == REFUSED;
    }
}
