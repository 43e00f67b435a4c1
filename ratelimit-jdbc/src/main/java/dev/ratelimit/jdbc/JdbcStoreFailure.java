package dev.ratelimit.jdbc;

import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.StoreFailure;
import java.util.Locale;

/** Why a database did not decide, in addition to {@link RemoteStoreFailure}: what it has replied. */
public enum JdbcStoreFailure implements StoreFailure.Reason {
    /** The database is a read-only standby, or set to read-only. */
    READONLY,
    /** The database's disk or memory is full. */
    UNWRITABLE,
    /** Authentication failed, or the user lacks a permission. */
    AUTH,
    /** The tables are missing or of another version, or it is no database that this library knows. */
    SCHEMA,
    /** A row stayed locked, or the transaction was chosen to end a deadlock. */
    LOCKED,
    /** A row holds what no version of this library has written. */
    DAMAGED;

    @Override
    public String tag() {
        return name().toLowerCase(Locale.ROOT);
    }

    @Override
    public boolean ofServer() {
        return this != LOCKED && this != DAMAGED;
    }

    @Override
    public boolean ofWriting() {
        return ofServer();
    }

    @Override
    public boolean showsServerState() {
        return this != LOCKED;
    }
}
