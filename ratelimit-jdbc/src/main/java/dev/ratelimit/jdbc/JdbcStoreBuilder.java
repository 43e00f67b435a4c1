package dev.ratelimit.jdbc;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.CheckReturnValue;
import dev.ratelimit.algorithm.LimitNotation;
import dev.ratelimit.remote.RemoteStoreBuilder;
import dev.ratelimit.remote.RemoteStoreSettings;
import dev.ratelimit.remote.StoreFailure;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Settings of a {@link JdbcStore}; the deadline is 250 ms by default. Not thread-safe. */
@CheckReturnValue
public final class JdbcStoreBuilder extends RemoteStoreBuilder<JdbcStoreBuilder> {

    /** The maximum time that a new store waits for its first connection, and that a closed one waits for its last. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private static final Duration IDLE_THREAD = Duration.ofMinutes(1);

    private final DataSource connections;
    private String table = "ratelimit";
    private int maxConnections = 2;
    private Duration cleanUpInterval = Duration.ofMinutes(1);
    private LimitNotation notation = LimitNotation.STANDARD;

    private @Nullable Executor threads;
    private @Nullable LongSupplier clock;

    JdbcStoreBuilder(DataSource connections) {
        super("Database");
        this.connections = connections;
        deadline(Duration.ofMillis(250));
    }

    /**
     * Sets the name of the table. That of the other one ends with {@code _schema}.
     *
     * @param table letters, digits and underscores, after the name of a schema and a dot if it is not the connection's; {@code
     *     ratelimit} by default
     * @return this builder
     */
    @CanIgnoreReturnValue
    public JdbcStoreBuilder table(String table) {
        this.table = table;
        return this;
    }

    /**
     * Limits the connections that the store uses at a time, and so the threads that wait for the database. Few are enough, as
     * one transaction decides for all who wait: more of them only help where keys are many and the way to the database is long.
     *
     * @param maxConnections 1 to 64; 2 by default
     * @return this builder
     * @throws IllegalArgumentException if {@code maxConnections} is out of range
     */
    @CanIgnoreReturnValue
    public JdbcStoreBuilder maxConnections(int maxConnections) {
        if (maxConnections < 1 || maxConnections > 64) {
            throw new IllegalArgumentException("max-connections must be from 1 to 64 but was " + maxConnections);
        }
        this.maxConnections = maxConnections;
        return this;
    }

    /**
     * Sets how often rows are removed that are as good as none: their keys have full budgets. One instance at a time removes up
     * to 1,000, and more soon afterwards if there were as many.
     *
     * @param interval above zero, plus or minus 10%; a minute by default
     * @return this builder
     * @throws IllegalArgumentException if {@code interval} is not positive
     */
    @CanIgnoreReturnValue
    public JdbcStoreBuilder cleanUpInterval(Duration interval) {
        if (interval.isNegative() || interval.isZero()) {
            throw new IllegalArgumentException("clean-up-interval must be positive but was " + interval);
        }
        this.cleanUpInterval = interval;
        return this;
    }

    /**
     * Sets the notation in which rows say by which limits they were written.
     *
     * @param notation which knows all limits of the policies that the store is asked about, and all that have written rows;
     *     {@link LimitNotation#STANDARD} by default
     * @return this builder
     */
    @CanIgnoreReturnValue
    public JdbcStoreBuilder notation(LimitNotation notation) {
        this.notation = notation;
        return this;
    }

    /** What runs transactions, instead of threads of the store. */
    @CanIgnoreReturnValue
    JdbcStoreBuilder threads(Executor threads) {
        this.threads = threads;
        return this;
    }

    /** A clock in microseconds, instead of the database's. */
    @CanIgnoreReturnValue
    JdbcStoreBuilder clock(LongSupplier clock) {
        this.clock = clock;
        return this;
    }

    /**
     * Builds a store. It waits for its first connection for at most 2 s; it also starts without a database, and each policy's
     * {@link dev.ratelimit.OnStoreFailure} then applies.
     *
     * @return a store, which the caller closes
     * @throws IllegalArgumentException if the name of the table or the local share is not valid
     * @throws IllegalStateException if the database has no such tables, or of another version, or is not supported
     */
    public JdbcStore build() {
        RemoteStoreSettings settings = remoteSettings();
        Executor runs = threads == null ? newThreads(maxConnections) : threads;
        Transactions transactions = new Transactions(connections, table, notation, runs, clock, settings);
        IdleRows idleRows = new IdleRows(transactions, cleanUpInterval, settings);
        Database database = new Database(
                transactions,
                () -> {
                    idleRows.close();
                    if (runs instanceof ThreadPoolExecutor own) {
                        end(own);
                    }
                },
                settings);
        JdbcStore store = new JdbcStore(database, settings);
        try {
            database.check(PATIENCE.toNanos());
        } catch (StoreFailure e) {
            store.close();
            throw new IllegalStateException("Database cannot keep rate limits: " + e.getMessage(), e);
        } catch (RuntimeException | Error e) {
            store.close();
            throw e;
        }
        idleRows.begin();
        return store;
    }

    private static ThreadPoolExecutor newThreads(int count) {
        AtomicInteger number = new AtomicInteger();
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                count, count, IDLE_THREAD.toSeconds(), TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "ratelimit-jdbc-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /** What has been sent is still executed, above all refunds. */
    private static void end(ThreadPoolExecutor threads) {
        threads.shutdown();
        try {
            if (!threads.awaitTermination(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
                threads.shutdownNow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
