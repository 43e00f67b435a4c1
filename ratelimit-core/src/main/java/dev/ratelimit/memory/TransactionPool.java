package dev.ratelimit.memory;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A few unused transactions, so that a decision need not create one. They are not stored per thread: with a virtual
 * thread per request, each request would create one. Thread-safe.
 */
final class TransactionPool {

    private static final int MAX = 64;

    /** Far enough apart that threads do not write to the same cache line. */
    private static final int SPACING = 5;

    private final StoreClock clock;

    /** A transaction is returned with release and taken by an exchange, which orders the threads that use it. */
    private final AtomicReferenceArray<@Nullable Transaction> idle = new AtomicReferenceArray<>(MAX << SPACING);

    TransactionPool(StoreClock clock) {
        this.clock = clock;
    }

    /** Takes an empty transaction, for this thread until it is returned; it need not be returned. */
    Transaction take() {
        Transaction transaction = idle.getAndSet(place(), null);
        return transaction == null ? new Transaction(clock) : transaction;
    }

    void giveBack(Transaction transaction) {
        if (!transaction.small()) {
            return;
        }
        transaction.clear();
        idle.setRelease(place(), transaction);
    }

    @SuppressWarnings("deprecation") // its successor is not in Java 17
    private static int place() {
        return ((int) Thread.currentThread().getId() & (MAX - 1)) << SPACING;
    }
}
