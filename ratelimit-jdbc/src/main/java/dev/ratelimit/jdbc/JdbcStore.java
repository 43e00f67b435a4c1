package dev.ratelimit.jdbc;

import dev.ratelimit.CheckReturnValue;
import dev.ratelimit.remote.RemoteStore;
import dev.ratelimit.remote.RemoteStoreSettings;
import dev.ratelimit.remote.Servers;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * Keeps the state of keys in a table of PostgreSQL, MySQL, MariaDB or H2, so that all instances of an application share their
 * limits. Each decision is part of one transaction, by the database's clock, for all limits of all policies: all or nothing.
 * Decisions that wait for a connection go together in the next transaction.
 *
 * <p>A decision never waits longer than the deadline. When the database has not answered by then, or is known to fail, each
 * policy's {@link dev.ratelimit.OnStoreFailure} applies; after some failures it is not asked for a while.
 *
 * <p>Thread-safe. Close it before the data source, which stays open.
 */
@CheckReturnValue
public final class JdbcStore extends RemoteStore {

    JdbcStore(Servers database, RemoteStoreSettings settings) {
        super(database, settings);
    }

    /**
     * Builds a store on a database that has the tables: this package has a script for each database in its resources, such as
     * {@code schema-postgresql.sql}.
     *
     * @param connections of a pool, which others may use, too. The store never takes part in a transaction of the application:
     *     it takes connections of its own, and commits
     * @return a builder with the default settings
     */
    public static JdbcStoreBuilder builder(DataSource connections) {
        return new JdbcStoreBuilder(connections);
    }

    /**
     * Finds the script that creates the tables of a database.
     *
     * @param connections to it
     * @return the path on the class path, such as {@code dev/ratelimit/jdbc/schema-postgresql.sql}
     * @throws SQLException if the database does not answer, or is none that this library knows
     */
    public static String schema(DataSource connections) throws SQLException {
        try (Connection connection = connections.getConnection()) {
            return "dev/ratelimit/jdbc/" + Dialect.of(connection).script();
        }
    }
}
