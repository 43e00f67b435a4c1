package dev.ratelimit.jdbc;

import dev.ratelimit.algorithm.LimitNotation;
import dev.ratelimit.remote.Operation;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLSyntaxErrorException;
import java.sql.SQLTransactionRollbackException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Executes orders on a table, in one transaction at the database's time. Thread-safe.
 *
 * <p>A {@link SQLException} means that nothing was executed, unless its state is {@link #UNKNOWN}. If a connection does not
 * commit by itself, and isolates transactions as {@link Connection#TRANSACTION_READ_COMMITTED}, as its
 * pool should see to, there are three round trips: to read and lock, to write, and to commit; on MySQL and MariaDB one more if
 * some keys are new and others are not. A question alone, by a connection that commits by itself, is one.
 */
final class SqlDecider {

    /** A check at the end of a transaction. */
    interface BeforeCommit {
        void check() throws SQLException;
    }

    /** The state of an exception after which it is not known whether the transaction was executed. */
    static final String UNKNOWN = "08007";

    /** Of the tables that this version works with. */
    private static final int SCHEMA = 1;

    private static final Pattern TABLE =
            Pattern.compile("([A-Za-z_][A-Za-z0-9_]{0,50}\\.)?[A-Za-z_][A-Za-z0-9_]{0,50}");
    private static final Set<String> NO_SUCH_TABLE = Set.of("42P01", "42S02", "42S03", "42S04");

    /** As of a column that is not there. */
    private static final String OTHER_TABLE = "42703";

    /** Each time, somebody else has just added a key that was new. */
    private static final int ATTEMPTS = 5;

    /** By how much the clocks of servers of a cluster may differ. */
    private static final long SKEW_MICROS = 100_000;

    /** The maximum number of rows in a statement. */
    private static final int MAX_ROWS = 512;

    private final Dialect dialect;
    private final String table;
    private final RowCodec codec;
    private final int timeoutSeconds;
    private final @Nullable LongSupplier clock;

    /** Below 0 until it is known. */
    private volatile int isolation = -1;

    /**
     * Creates a decider.
     *
     * @param table the name of the table, after that of its schema and a dot if it is not the current one
     * @param notation which knows all limits that write rows
     * @param timeoutSeconds of each statement, at least 1
     */
    SqlDecider(Dialect dialect, String table, LimitNotation notation, int timeoutSeconds) {
        this(dialect, table, notation, timeoutSeconds, null);
    }

    /** Creates a decider with this clock, in microseconds, instead of the database's. */
    SqlDecider(
            Dialect dialect, String table, LimitNotation notation, int timeoutSeconds, @Nullable LongSupplier clock) {
        requireValid(table);
        if (timeoutSeconds < 1) {
            throw new IllegalArgumentException("timeoutSeconds must be at least 1 but was " + timeoutSeconds);
        }
        this.dialect = dialect;
        this.table = table;
        this.codec = new RowCodec(notation);
        this.timeoutSeconds = timeoutSeconds;
        this.clock = clock;
    }

    /** Throws an {@link IllegalArgumentException} if this cannot be the name of a table. */
    static void requireValid(String table) {
        if (!TABLE.matcher(table).matches()) {
            throw new IllegalArgumentException(
                    "table must be letters, digits and underscores, such as ratelimit or app.ratelimit, but was '"
                            + table + "'");
        }
    }

    /**
     * Checks that the table is there, and of the version that this library works with.
     *
     * @throws SQLException if not, or if the database does not answer
     */
    void checkSchema(Connection connection) throws SQLException {
        try (PreparedStatement statement = prepare(connection, dialect.version(table));
                ResultSet found = statement.executeQuery()) {
            int version = found.next() ? found.getInt(1) : 0;
            if (version != SCHEMA) {
                throw new SQLSyntaxErrorException(
                        "the table " + table + " is of version " + version
                                + ", but this version of ratelimit-jdbc works with version " + SCHEMA
                                + ", of dev/ratelimit/jdbc/" + dialect.script(),
                        OTHER_TABLE);
            }
        } catch (SQLException e) {
            throw explained(e);
        } finally {
            if (!connection.getAutoCommit()) {
                connection.rollback();
            }
        }
    }

    /**
     * Executes these orders one after another, each all or nothing, and commits.
     *
     * @param connection without a transaction
     * @param beforeCommit is called last, and may throw: then nothing is executed
     * @return an answer for each order
     * @throws SQLException if nothing was executed; or, with the state {@link #UNKNOWN}, perhaps
     */
    List<Executed> execute(Connection connection, List<Order> orders, BeforeCommit beforeCommit) throws SQLException {
        if (orders.stream().allMatch(order -> order.operation() == Operation.PEEK)) {
            List<Executed> answers = peek(connection, orders);
            if (answers != null) {
                return answers;
            }
        }
        return inTransaction(connection, () -> {
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                Ledger ledger = read(connection, orders, true);
                List<Executed> answers = orders.stream().map(ledger::execute).toList();
                if (write(connection, ledger)) {
                    beforeCommit.check();
                    return answers;
                }
                connection.rollback();
            }
            throw new SQLTransactionRollbackException(
                    "others have added the same keys " + ATTEMPTS + " times in a row", "40001");
        });
    }

    /** Answers without a lock; {@code null} if there is something to write. */
    private @Nullable List<Executed> peek(Connection connection, List<Order> orders) throws SQLException {
        try {
            Ledger ledger = read(connection, orders, false);
            List<Executed> answers = orders.stream().map(ledger::execute).toList();
            return ledger.changed().isEmpty() ? answers : null;
        } catch (SQLException e) {
            throw explained(e);
        } finally {
            if (!connection.getAutoCommit()) {
                connection.rollback();
            }
        }
    }

    /**
     * Removes rows that are as good as none, beside decisions.
     *
     * @param connection without a transaction
     * @param max how many at most, at least 1
     * @return how many were removed; 0 also if somebody else is removing some
     * @throws SQLException if none were removed; or, with the state {@link #UNKNOWN}, perhaps
     */
    int removeIdle(Connection connection, int max) throws SQLException {
        return inTransaction(connection, () -> {
            Long now = lease(connection);
            if (now == null) {
                return 0;
            }
            List<byte[]> ids = new ArrayList<>();
            try (PreparedStatement statement = prepare(connection, dialect.idle(table))) {
                statement.setLong(1, now);
                statement.setInt(2, max);
                try (ResultSet found = statement.executeQuery()) {
                    while (found.next()) {
                        ids.add(found.getBytes(1));
                    }
                }
            }
            for (int from = 0; from < ids.size(); from += MAX_ROWS) {
                List<byte[]> some = ids.subList(from, Math.min(ids.size(), from + MAX_ROWS));
                try (PreparedStatement statement = prepare(connection, dialect.delete(table, some.size()))) {
                    setIds(statement, 1, some);
                    statement.executeUpdate();
                }
            }
            return ids.size();
        });
    }

    /** The time, if nobody else is removing rows. */
    private @Nullable Long lease(Connection connection) throws SQLException {
        try (PreparedStatement statement = prepare(connection, dialect.lease(table));
                ResultSet found = statement.executeQuery()) {
            return found.next() ? (Long) time(found.getLong(1)) : null;
        }
    }

    private long time(long database) {
        return clock == null ? database : clock.getAsLong();
    }

    private Ledger read(Connection connection, List<Order> orders, boolean lock) throws SQLException {
        Ledger ledger = new Ledger(orders);
        List<byte[]> ids = ledger.rows().stream().map(Row::id).toList();
        long now = 0;
        long before = System.nanoTime();
        for (int from = 0; from == 0 || from < ids.size(); from += MAX_ROWS) {
            List<byte[]> some = ids.subList(from, Math.min(ids.size(), from + MAX_ROWS));
            now = read(connection, ledger, some, lock);
        }
        // the clock may have been read before a row was locked, which somebody else then wrote
        long waited = clock == null ? (System.nanoTime() - before) / 1000 : 0;
        ledger.begin(time(now), waited + SKEW_MICROS);
        return ledger;
    }

    /** Returns the time. */
    private long read(Connection connection, Ledger ledger, List<byte[]> ids, boolean lock) throws SQLException {
        // few different statements, so that the database knows them
        int places = ids.size() < 2 ? 1 : Integer.highestOneBit(ids.size() - 1) * 2;
        long now = 0;
        try (PreparedStatement statement = prepare(connection, dialect.read(table, places, lock))) {
            byte[] last = ids.isEmpty() ? new byte[RowCodec.ID_BYTES] : ids.get(ids.size() - 1);
            for (int i = setIds(statement, 1, ids); i <= places; i++) {
                statement.setBytes(i, last);
            }
            try (ResultSet found = statement.executeQuery()) {
                while (found.next()) {
                    byte[] id = found.getBytes(1);
                    if (id == null) {
                        now = found.getLong(4);
                    } else {
                        codec.read(ledger.row(id), found);
                    }
                }
            }
        }
        return now;
    }

    /** False if somebody else has added a new key meanwhile: then nothing may be committed. */
    private boolean write(Connection connection, Ledger ledger) throws SQLException {
        List<Row> changed = ledger.changed();
        List<Row> fresh = changed.stream().filter(row -> !row.stored()).toList();
        List<Row> locked = changed.stream().filter(Row::stored).toList();
        boolean all = true;
        if (dialect.writesAtOnce() && changed.size() <= MAX_ROWS) {
            return changed.isEmpty() || write(connection, fresh, locked, ledger.nowMicros());
        }
        for (int from = 0; all && from < fresh.size(); from += MAX_ROWS) {
            List<Row> some = fresh.subList(from, Math.min(fresh.size(), from + MAX_ROWS));
            all = write(connection, some, List.of(), ledger.nowMicros());
        }
        for (int from = 0; all && from < locked.size(); from += MAX_ROWS) {
            List<Row> some = locked.subList(from, Math.min(locked.size(), from + MAX_ROWS));
            all = write(connection, List.of(), some, ledger.nowMicros());
        }
        return all;
    }

    private boolean write(Connection connection, List<Row> fresh, List<Row> locked, long now) throws SQLException {
        try (PreparedStatement statement = prepare(connection, dialect.write(table, fresh.size(), locked.size()))) {
            int next = 1;
            for (Row row : fresh) {
                next = codec.write(row, statement, next, now);
            }
            for (Row row : locked) {
                next = codec.write(row, statement, next, now);
            }
            if (!dialect.writesAtOnce()) {
                statement.executeUpdate();
                return true;
            }
            setIds(statement, next, fresh.stream().map(Row::id).toList());
            return statement.executeUpdate() == fresh.size() + locked.size();
        } catch (SQLException e) {
            // of two who insert the same keys, MySQL and MariaDB may also end one as if it were in a deadlock
            String state = String.valueOf(e.getSQLState());
            if (!fresh.isEmpty() && (state.startsWith("23") || state.startsWith("40"))) {
                return false;
            }
            throw e;
        }
    }

    private PreparedStatement prepare(Connection connection, String sql) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        try {
            statement.setQueryTimeout(timeoutSeconds);
            return statement;
        } catch (SQLException e) {
            statement.close();
            throw e;
        }
    }

    /** Sets the parameters from this one on; returns the number of the next one. */
    private static int setIds(PreparedStatement statement, int first, Collection<byte[]> ids) throws SQLException {
        int next = first;
        for (byte[] id : ids) {
            statement.setBytes(next++, id);
        }
        return next;
    }

    private interface Work<T> {
        T run() throws SQLException;
    }

    private <T> T inTransaction(Connection connection, Work<T> work) throws SQLException {
        boolean commits = connection.getAutoCommit();
        int isolation = isolation(connection);
        if (isolation > Connection.TRANSACTION_READ_COMMITTED) {
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
        if (commits) {
            connection.setAutoCommit(false);
        }
        boolean over = false;
        try {
            T result = work.run();
            commit(connection);
            over = true;
            return result;
        } catch (SQLException e) {
            over = rollback(connection, e);
            throw explained(e);
        } catch (RuntimeException | Error e) {
            over = rollback(connection, e);
            throw e;
        } finally {
            if (over) {
                restore(connection, commits, isolation);
            }
        }
    }

    /** That of the pool's connections. Asked once: a driver may ask the database. */
    private int isolation(Connection connection) throws SQLException {
        if (isolation < 0) {
            isolation = connection.getTransactionIsolation();
        }
        return isolation;
    }

    private static void commit(Connection connection) throws SQLException {
        try {
            connection.commit();
        } catch (SQLException e) {
            String state = String.valueOf(e.getSQLState());
            // 40003: it is not known
            boolean rolledBack = state.startsWith("40") && !state.equals("40003");
            throw rolledBack
                    ? e
                    : new SQLNonTransientConnectionException("it is not known whether it was committed", UNKNOWN, e);
        }
    }

    private static boolean rollback(Connection connection, Throwable reason) {
        try {
            connection.rollback();
            return true;
        } catch (SQLException e) {
            // the connection is broken; to let it commit by itself again would commit
            reason.addSuppressed(e);
            return false;
        }
    }

    private static void restore(Connection connection, boolean commits, int isolation) {
        try {
            if (commits) {
                connection.setAutoCommit(true);
            }
            if (isolation > Connection.TRANSACTION_READ_COMMITTED) {
                connection.setTransactionIsolation(isolation);
            }
        } catch (SQLException e) {
            // the connection is broken, as the next user of it will see; this transaction is over
        }
    }

    /** With what to do, if that is known. */
    private SQLException explained(SQLException e) {
        return NO_SUCH_TABLE.contains(String.valueOf(e.getSQLState()))
                ? new SQLSyntaxErrorException(
                        "there is no table " + table + " or " + table + "_schema; create both by dev/ratelimit/jdbc/"
                                + dialect.script() + " in ratelimit-jdbc",
                        e.getSQLState(),
                        e)
                : e;
    }
}
