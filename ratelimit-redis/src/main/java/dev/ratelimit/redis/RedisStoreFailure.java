package dev.ratelimit.redis;

import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.StoreFailure;
import java.util.Locale;

/** Why Redis did not decide, in addition to {@link RemoteStoreFailure}: what a server has replied. */
public enum RedisStoreFailure implements StoreFailure.Reason {
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
    /** A reply that does not fit its command: answers were lost, doubled or mixed up. The connection is replaced. */
    UNEXPECTED;

    @Override
    public String tag() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    @Override
    public boolean ofServer() {
        return this != WRONG_TYPE && this != SCRIPT && this != MOVING;
    }

    @Override
    public boolean ofWriting() {
        return this == READONLY || this == OOM || this == UNWRITABLE || this == AUTH;
    }

    @Override
    public boolean showsServerState() {
        return this != MOVING;
    }

    @Override
    public boolean executedNothing() {
        return this != UNEXPECTED;
    }

    @Override
    public boolean ofConnection() {
        return this == READONLY || this == AUTH || this == CLUSTER || this == UNEXPECTED;
    }
}
