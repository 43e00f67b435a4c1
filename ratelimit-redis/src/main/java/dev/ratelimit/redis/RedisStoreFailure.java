package dev.ratelimit.redis;

import java.util.Locale;

/** Why Redis did not decide. */
public enum RedisStoreFailure {
    /** Redis did not answer before the deadline. */
    TIMEOUT,
    /** This instance did not get to send the command in time, or stood still while the deadline passed. */
    STALLED,
    /** There is no connection. */
    CONNECTION,
    /** The maximum number of requests is already waiting for an answer. */
    SATURATED,
    /** Redis was not asked, because recent requests failed. */
    OPEN,
    /** The server is a read-only replica. */
    READONLY,
    /** The server is loading its data from disk. */
    LOADING,
    /** The server is busy with a long-running script. */
    BUSY,
    /** The server is out of memory. */
    OOM,
    /** The server refuses to write, because its disk or its replicas fail ({@code MISCONF}, {@code NOREPLICAS}). */
    UNWRITABLE,
    /** Authentication failed, or the user lacks a permission. */
    AUTH,
    /** The cluster is down, or a replica has lost its master. */
    CLUSTER,
    /** The slot is being moved, and only some of its keys have arrived. */
    MOVING,
    /** A rate limit's key holds a foreign value. */
    WRONG_TYPE,
    /** The script failed for this request alone: a key holds a damaged value, or there are too many limits at once. */
    SCRIPT,
    /** The thread was interrupted. */
    INTERRUPTED,
    /** A reply that does not fit its command: answers were lost, doubled or mixed up. The connection is replaced. */
    UNEXPECTED,
    /** Anything else. */
    ERROR;

    /** {@return the value of the tag in metrics, such as {@code wrong-type}} */
    public String tag() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
