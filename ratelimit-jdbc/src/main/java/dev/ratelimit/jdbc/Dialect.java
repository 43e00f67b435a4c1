package dev.ratelimit.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Collections;
import java.util.Locale;

/** The statements of each database, for a table of this name. */
enum Dialect {
    /** 13 or newer. */
    POSTGRESQL("(extract(epoch from clock_timestamp()) * 1000000)::bigint") {

        @Override
        String write(String table, int fresh, int locked) {
            return insert(table, fresh + locked)
                    + " on conflict (id) do update"
                    + " set limits = excluded.limits, state = excluded.state, idle_at = excluded.idle_at"
                    // somebody else has just inserted it
                    + (fresh > 0 ? " where t.id not in (" + list("?", fresh) + ")" : "");
        }

        @Override
        String insert(String table, int rows) {
            return super.insert(table + " as t", rows);
        }

        /** A client that vanished keeps no lock; how long the others keep it is a setting of their sessions. */
        @Override
        String whenLocked() {
            return "set_config('idle_in_transaction_session_timeout', '3000', true)";
        }
    },

    /** 8 or newer. */
    MYSQL(Dialect.UTC_MICROS) {

        @Override
        String write(String table, int fresh, int locked) {
            return replace(table, fresh, locked);
        }
    },

    /** 10.6 or newer. */
    MARIADB(Dialect.UTC_MICROS) {

        @Override
        String write(String table, int fresh, int locked) {
            return replace(table, fresh, locked);
        }
    },

    /** 2.2.220 or newer. */
    H2("cast(extract(epoch from current_timestamp(6)) * 1000000 as bigint)") {

        @Override
        String write(String table, int fresh, int locked) {
            return fresh > 0
                    ? insert(table, fresh)
                    : "merge into " + table + " (id, limits, state, idle_at) key (id) values " + list(ROW, locked);
        }
    };

    private static final String UTC_MICROS = "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))";

    private static final String ROW = "(?, ?, ?, ?)";

    private final String micros;

    Dialect(String micros) {
        this.micros = micros;
    }

    /**
     * Returns that of the connected database.
     *
     * @throws SQLFeatureNotSupportedException if there is none
     */
    static Dialect of(Connection connection) throws SQLException {
        DatabaseMetaData server = connection.getMetaData();
        String product = server.getDatabaseProductName();
        // drivers for MySQL also speak to MariaDB
        String name = product + (product.equals("MySQL") ? " " + server.getDatabaseProductVersion() : "");
        if (name.contains("MariaDB")) {
            return MARIADB;
        }
        for (Dialect dialect : values()) {
            if (product.toUpperCase(Locale.ROOT).equals(dialect.name())) {
                return dialect;
            }
        }
        throw new SQLFeatureNotSupportedException(
                "rate limits can be kept in PostgreSQL, MySQL, MariaDB or H2, but this is " + product, "0A000");
    }

    /** The script that creates the tables, in this package's resources. */
    String script() {
        return "schema-" + name().toLowerCase(Locale.ROOT) + ".sql";
    }

    /** Whether {@link #write} is one statement for new rows and others; otherwise it is one for each. */
    boolean writesAtOnce() {
        return this == POSTGRESQL;
    }

    /** The rows with these ids, in their order, and at last one without id and with the time. */
    String read(String table, int ids, boolean lock) {
        String rows = "select id, limits, state, idle_at from " + table + " where id in (" + list("?", ids) + ")"
                + " order by id" + (lock ? " for update" : "");
        return "select id, limits, state, idle_at from (" + rows + ") r union all select null, "
                + (lock ? whenLocked() : "null") + ", null, " + micros;
    }

    /** What a transaction that locks rows also does: a text. */
    String whenLocked() {
        return "null";
    }

    /** Writes new rows and rows that are locked; a new row that somebody else has inserted is not counted, or fails. */
    abstract String write(String table, int fresh, int locked);

    /** A new row fails, or is not inserted, if there is one. */
    String insert(String table, int rows) {
        return "insert into " + table + " (id, limits, state, idle_at) values " + list(ROW, rows);
    }

    /** In MySQL and MariaDB, either new rows or locked ones. */
    String replace(String table, int fresh, int locked) {
        return insert(table, fresh + locked)
                + (fresh > 0
                        ? ""
                        : " on duplicate key update limits = values(limits), state = values(state), idle_at = values(idle_at)");
    }

    /** The version of the table. */
    String version(String table) {
        return "select version from " + table + "_schema";
    }

    /** The time, and the right to remove rows: no row if somebody else has it. */
    String lease(String table) {
        return "select " + micros + " from " + table + "_schema for update skip locked";
    }

    /** The ids of rows that are idle at a time, up to a number. */
    String idle(String table) {
        return "select id from " + table + " where idle_at <= ? order by idle_at limit ? for update skip locked";
    }

    String delete(String table, int ids) {
        return "delete from " + table + " where id in (" + list("?", ids) + ")";
    }

    private static String list(String item, int count) {
        return String.join(", ", Collections.nCopies(count, item));
    }
}
