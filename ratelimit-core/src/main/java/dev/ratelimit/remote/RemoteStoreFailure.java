package dev.ratelimit.remote;

import java.util.Locale;

/** Why a server of any remote store did not decide. Stores add reasons of their own. */
public enum RemoteStoreFailure implements StoreFailure.Reason {
    /** The server did not answer before the deadline. */
    TIMEOUT,
    /** This instance did not get to send the request in time, or stood still while the deadline passed. */
    STALLED,
    /** There is no connection. */
    CONNECTION,
    /** The maximum number of requests is already waiting for an answer. */
    SATURATED,
    /** The server was not asked, because recent requests failed. */
    OPEN,
    /** The thread was interrupted. */
    INTERRUPTED,
    /** Anything else. */
    ERROR;

    @Override
    public String tag() {
        return name().toLowerCase(Locale.ROOT);
    }

    @Override
    public boolean ofServer() {
        return this == TIMEOUT || this == CONNECTION || this == ERROR;
    }

    @Override
    public boolean showsServerState() {
        return ofServer();
    }

    @Override
    public boolean replied() {
        return this == ERROR;
    }

    @Override
    public boolean executedNothing() {
        return this == STALLED || this == ERROR;
    }

    @Override
    public boolean ofConnection() {
        return this == TIMEOUT || this == CONNECTION;
    }
}
