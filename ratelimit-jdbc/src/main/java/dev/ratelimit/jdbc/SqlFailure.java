package dev.ratelimit.jdbc;

import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.StoreFailure;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.Map;

/** Says what exceptions of databases and pools mean for a store. */
final class SqlFailure {

    /** By the codes of MySQL, MariaDB and H2, whose states say less. */
    private static final Map<Integer, StoreFailure.Reason> CODES = Map.ofEntries(
            Map.entry(1290, JdbcStoreFailure.READONLY),
            Map.entry(1836, JdbcStoreFailure.READONLY),
            Map.entry(90097, JdbcStoreFailure.READONLY),
            Map.entry(1021, JdbcStoreFailure.UNWRITABLE),
            Map.entry(1037, JdbcStoreFailure.UNWRITABLE),
            Map.entry(1041, JdbcStoreFailure.UNWRITABLE),
            Map.entry(1114, JdbcStoreFailure.UNWRITABLE),
            Map.entry(1044, JdbcStoreFailure.AUTH),
            Map.entry(1045, JdbcStoreFailure.AUTH),
            Map.entry(1142, JdbcStoreFailure.AUTH),
            Map.entry(1143, JdbcStoreFailure.AUTH),
            Map.entry(90096, JdbcStoreFailure.AUTH),
            Map.entry(1205, JdbcStoreFailure.LOCKED));

    /** By the beginning of states of the SQL standard and of PostgreSQL; of several that fit, the longest counts. */
    private static final Map<String, StoreFailure.Reason> STATES = Map.ofEntries(
            Map.entry("08", RemoteStoreFailure.CONNECTION),
            Map.entry("57P", RemoteStoreFailure.CONNECTION),
            Map.entry("53300", RemoteStoreFailure.CONNECTION),
            Map.entry("57014", RemoteStoreFailure.TIMEOUT),
            Map.entry("25006", JdbcStoreFailure.READONLY),
            Map.entry("53", JdbcStoreFailure.UNWRITABLE),
            Map.entry("58030", JdbcStoreFailure.UNWRITABLE),
            Map.entry("28", JdbcStoreFailure.AUTH),
            Map.entry("42501", JdbcStoreFailure.AUTH),
            Map.entry("42", JdbcStoreFailure.SCHEMA),
            Map.entry("3D", JdbcStoreFailure.SCHEMA),
            Map.entry("3F", JdbcStoreFailure.SCHEMA),
            Map.entry("0A", JdbcStoreFailure.SCHEMA),
            Map.entry("40", JdbcStoreFailure.LOCKED),
            Map.entry("55P03", JdbcStoreFailure.LOCKED),
            Map.entry("22", JdbcStoreFailure.DAMAGED));

    private SqlFailure() {}

    /**
     * Converts anything that a transaction has thrown. Unless the reason is one of {@link RemoteStoreFailure}, nothing was
     * executed.
     */
    static StoreFailure of(Throwable thrown) {
        return StoreFailure.cause(thrown) instanceof SQLException failure
                ? new StoreFailure(reason(failure), String.valueOf(failure.getMessage()), failure)
                : StoreFailure.of(thrown);
    }

    private static StoreFailure.Reason reason(SQLException failure) {
        if (failure instanceof SQLTimeoutException) {
            return RemoteStoreFailure.TIMEOUT;
        }
        if (failure instanceof SQLTransientConnectionException) {
            // a pool without a connection tells the state of an earlier failure
            return RemoteStoreFailure.CONNECTION;
        }
        StoreFailure.Reason known = CODES.get(failure.getErrorCode());
        String state = String.valueOf(failure.getSQLState());
        for (int length = state.length(); known == null && length > 1; length--) {
            known = STATES.get(state.substring(0, length));
        }
        return known == null ? RemoteStoreFailure.ERROR : known;
    }
}
