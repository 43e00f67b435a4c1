package dev.ratelimit.simulator.replay;

/** What clients do when they are refused. */
public enum Clients {
    /** What they did when the log was recorded: nothing. */
    AS_RECORDED,
    /** They obey Retry-After, and send the request again after that time, up to three times. */
    OBEYING,
    /** They ignore it, and send the request again each second, up to three times. */
    IGNORING
}
