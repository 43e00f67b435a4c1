package dev.ratelimit.jdbc;

import dev.ratelimit.Scheduler.Alarm;
import dev.ratelimit.remote.RemoteStoreSettings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Has idle rows removed again and again, some at a time, by whichever instance comes first. What fails is tried again at the next
 * time: rows that stay are only in the way of disks. Thread-safe.
 */
final class IdleRows implements AutoCloseable {

    /** How many rows a transaction removes at most: decisions wait for a connection meanwhile. */
    private static final int MAX_ROWS = 1000;

    private final Transactions transactions;
    private final RemoteStoreSettings settings;
    private final long intervalNanos;

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
        if (!closed) {
            alarm = settings.scheduler().schedule(this::remove, nanos);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // it does not fail
    private void remove() {
        try {
            transactions
                    .run((decider, connection) -> decider.removeIdle(connection, MAX_ROWS))
                    .handle((removed, failure) -> {
                        if (failure == null && removed == MAX_ROWS) {
                            schedule(intervalNanos / 100);
                        } else {
                            begin();
                        }
                        return null;
                    });
        } catch (RuntimeException e) {
            // the store is closed, or has no thread
            begin();
        }
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
