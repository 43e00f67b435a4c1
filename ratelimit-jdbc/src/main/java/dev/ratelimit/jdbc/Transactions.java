package dev.ratelimit.jdbc;

import dev.ratelimit.algorithm.LimitNotation;
import dev.ratelimit.remote.RemoteStoreSettings;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Runs transactions on connections of a data source, on threads that may block. Thread-safe; does not block. */
final class Transactions {

    /** What to do with a connection, which has no transaction. */
    interface Work<T extends @Nullable Object> {

        T run(SqlDecider decider, Connection connection) throws SQLException;
    }

    /** How much longer than a statement a connection may be silent: the database ends statements by itself. */
    private static final int GRACE_MILLIS = 500;

    private final DataSource connections;
    private final String table;
    private final LimitNotation notation;
    private final Executor threads;
    private final @Nullable LongSupplier clock;
    private final int timeoutSeconds;

    private volatile @Nullable SqlDecider decider;
    private volatile String title = "";

    /**
     * Creates transactions on a table.
     *
     * @param clock in microseconds, instead of the database's
     */
    Transactions(
            DataSource connections,
            String table,
            LimitNotation notation,
            Executor threads,
            @Nullable LongSupplier clock,
            RemoteStoreSettings settings) {
        SqlDecider.requireValid(table);
        this.connections = connections;
        this.table = table;
        this.notation = notation;
        this.threads = threads;
        this.clock = clock;
        this.timeoutSeconds =
                1 + Math.toIntExact(Math.min(3600, TimeUnit.NANOSECONDS.toSeconds(settings.deadlineNanos())));
    }

    /** {@return the database's address; empty until there was a connection} */
    String title() {
        return title;
    }

    /**
     * {@return the result, completed exceptionally with a {@link dev.ratelimit.remote.StoreFailure}} Nothing is done if the caller
     * has completed it before there was a thread.
     */
    <T extends @Nullable Object> CompletableFuture<T> run(Work<T> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        threads.execute(() -> {
            if (result.isDone()) {
                // a probe that came too late
                return;
            }
            try {
                result.complete(call(work));
            } catch (SQLException | RuntimeException | Error e) {
                result.completeExceptionally(SqlFailure.of(e));
            }
        });
        return result;
    }

    private <T extends @Nullable Object> T call(Work<T> work) throws SQLException {
        Connection connection = connections.getConnection();
        try {
            int before = connection.getNetworkTimeout();
            connection.setNetworkTimeout(Runnable::run, timeoutSeconds * 1000 + GRACE_MILLIS);
            try {
                return work.run(decider(connection), connection);
            } finally {
                restore(connection, before);
            }
        } finally {
            close(connection);
        }
    }

    private SqlDecider decider(Connection connection) throws SQLException {
        SqlDecider known = decider;
        if (known == null) {
            known = new SqlDecider(Dialect.of(connection), table, notation, timeoutSeconds, clock);
            title = withoutSecrets(connection.getMetaData().getURL());
            decider = known;
        }
        return known;
    }

    /** Parameters and what stands before an at sign may be secret. */
    static String withoutSecrets(@Nullable String url) {
        String shown = url == null ? "" : url.replaceFirst("//.*@", "//").replaceFirst("[?;].*", "");
        // a list of properties of the host
        return shown.contains("(") ? "" : shown;
    }

    private static void restore(Connection connection, int networkTimeout) {
        try {
            connection.setNetworkTimeout(Runnable::run, networkTimeout);
        } catch (SQLException e) {
            // the connection is broken, as its next user will see; what is committed is committed
        }
    }

    private static void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            // what is committed is committed
        }
    }
}
