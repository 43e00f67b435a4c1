package dev.ratelimit.remote;

/** What a server is to do. */
public enum Operation {
    /** Takes all charges, or none. */
    CHARGE,
    /** Says what a charge would, and takes nothing. */
    PEEK,
    /** Gives back what was charged with this stamp. */
    REFUND,
    /** Gives each key a full budget. */
    RESET;

    /** {@return whether its answer has the status of each limit} */
    public boolean hasStatuses() {
        return this == CHARGE || this == PEEK;
    }
}
