package dev.ratelimit.jdbc;

import dev.ratelimit.Scheduler.Alarm;
import dev.ratelimit.remote.RemoteStoreSettings;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Has idle rows removed again and again, some at a time, by whichever instance comes first. What fails is tried again at the next
 * time, with fewer rows: those that stay are only in the way of disks. Thread-safe.
 */
final class IdleRows implements AutoCloseable {

    /** How many rows a transaction removes at most: decisions wait for a connection meanwhile. */
    private static final int MAX_ROWS = 1000;

    private static final Logger LOG = System.getLogger(IdleRows.class.getPackageName());

    private final Transactions transactions;
    private final RemoteStoreSettings settings;
    private final long intervalNanos;

    /** How many are removed next, by the alarm or a thread of transactions, one after the other. */
    private volatile int max = MAX_ROWS;

    private volatile boolean failing;
    private volatile boolean closed;
    private volatile @Nullable Alarm alarm;

    IdleRows(Transactions transactions, Duration interval, RemoteStoreSettings settings) {
        this.transactions = transactions;
        this.settings = settings;
        this.intervalNanos = interval.toNanos();
    }

    /** Begins after an interval. */
    void begin() {
        // instances that started together do not come together
        long spread = settings.random().nextLong(intervalNanos / 5 + 1) - intervalNanos / 10;
        schedule(intervalNanos + spread);
    }

    private void schedule(long nanos) {
        if (closed) {
            return;
        }
        alarm = settings.scheduler().schedule(this::remove, nanos);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // it does not fail
    private void remove() {
        int most = max;
        try {
            transactions
                    .run((decider, connection) -> decider.removeIdle(connection, most))
                    .whenComplete((removed, failure) -> removed(most, removed, failure));
        } catch (RuntimeException | Error e) {
            // the store is closed, or a thread did not start
            removed(most, null, e);
        }
    }

    private void removed(int most, @Nullable Integer removed, @Nullable Throwable failure) {
        if (removed == null) {
            // perhaps they are too many for the time that a statement has
            max = Math.max(1, most / 2);
            warn(failure);
            begin();
            return;
        }
        failing = false;
        max = Math.min(MAX_ROWS, 2 * most);
        if (removed == most) {
            schedule(intervalNanos / 100);
        } else {
            begin();
        }
    }

    /** Once for all failures in a row. */
    private void warn(@Nullable Throwable failure) {
        if (!failing && !closed) {
            LOG.log(Level.WARNING, "Rows of full budgets could not be removed; it is tried again: {0}", failure);
        }
        failing = true;
    }

    @Override
    public void close() {
        closed = true;
        Alarm last = alarm;
        if (last != null) {
            last.cancel();
        }
    }
}
