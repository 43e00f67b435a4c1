package dev.ratelimit.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Connections below a pool that break, stand still, or reach a database that refuses to write. Thread-safe. */
final class FaultyConnections {

    /** One in so many calls fails by itself. */
    private static final int ONE_IN = 400;

    private final DataSource inside;
    private final long seed;
    private final AtomicLong calls = new AtomicLong();
    private final AtomicLong faults = new AtomicLong();

    private volatile boolean faulty;

    /** What all calls throw. */
    private volatile @Nullable SQLException outage;

    FaultyConnections(DataSource inside, long seed) {
        this.inside = inside;
        this.seed = seed;
    }

    DataSource connections() {
        return proxy(DataSource.class, inside, null);
    }

    /** Whether single calls fail from now on. */
    void faulty(boolean on) {
        faulty = on;
    }

    /** From now on, all calls fail with this, if it is not {@code null}. */
    void outage(@Nullable SQLException failure) {
        outage = failure;
    }

    /** {@return how many calls have failed} */
    long faults() {
        return faults.get();
    }

    private <T> T proxy(Class<T> type, Object target, @Nullable Connection connection) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    String name = method.getName();
                    boolean asks = name.startsWith("execute") || name.equals("commit") || name.equals("getConnection");
                    Fault fault = asks ? fault() : Fault.NONE;
                    if (fault != Fault.NONE) {
                        fault.before(connection);
                    }
                    Object result;
                    try {
                        result = method.invoke(target, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                    if (result instanceof Connection opened && !(target instanceof Connection)) {
                        return proxy(Connection.class, opened, opened);
                    }
                    if (fault == Fault.LOST_ANSWER) {
                        throw reset(connection);
                    }
                    return result instanceof PreparedStatement prepared
                            ? proxy(PreparedStatement.class, prepared, (Connection) target)
                            : result;
                }));
    }

    private Fault fault() throws SQLException {
        SQLException all = outage;
        if (all != null) {
            faults.incrementAndGet();
            throw all;
        }
        if (!faulty) {
            return Fault.NONE;
        }
        Random random = new Random(seed ^ calls.incrementAndGet() * 0x9E3779B97F4A7C15L);
        if (random.nextInt(ONE_IN) > 0) {
            return Fault.NONE;
        }
        faults.incrementAndGet();
        return Fault.values()[1 + random.nextInt(Fault.values().length - 1)];
    }

    private static SQLException reset(@Nullable Connection connection) throws SQLException {
        if (connection != null) {
            connection.close();
        }
        return new SQLException("connection reset", "08006");
    }

    /** What becomes of one call. */
    private enum Fault {
        NONE,
        /** The connection breaks before anything is sent. */
        RESET {
            @Override
            void before(@Nullable Connection connection) throws SQLException {
                throw reset(connection);
            }
        },
        /** The database executes the call, and the answer gets lost. */
        LOST_ANSWER,
        /** The database ends the transaction. */
        DEADLOCK {
            @Override
            void before(@Nullable Connection connection) throws SQLException {
                throw new SQLException("deadlock detected", "40P01");
            }
        },
        /** The call takes longer than callers wait. */
        PAUSE {
            @Override
            void before(@Nullable Connection connection) {
                LockSupport.parkNanos(300_000_000);
            }
        },
        /** Somebody else has the row. */
        LOCKED {
            @Override
            void before(@Nullable Connection connection) throws SQLException {
                throw new SQLTransientException("canceling statement due to lock timeout", "55P03");
            }
        };

        void before(@Nullable Connection connection) throws SQLException {
            // nothing happens before
        }
    }
}
