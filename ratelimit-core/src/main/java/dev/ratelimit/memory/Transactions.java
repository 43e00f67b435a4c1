package dev.ratelimit.memory;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A few transactions that nobody uses at the moment, so that a decision need not make one. Not by thread: where each
 * request has a virtual thread of its own, that would make one each time. Thread-safe.
 */
final class Transactions {

    private static final int MOST = 64;

    /** Places are so far apart that threads do not write to the same cache line. */
    private static final int SPACING = 5;

    private final StoreClock clock;
    private final AtomicReferenceArray<@Nullable Transaction> idle = new AtomicReferenceArray<>(MOST << SPACING);

    Transactions(StoreClock clock) {
        this.clock = clock;
    }

    /** A transaction over nothing yet, for this thread until it is given back; or for ever, if that never happens. */
    Transaction take() {
        Transaction transaction = idle.getAndSet(place(), null);
        return transaction == null ? new Transaction(clock) : transaction;
    }

    void giveBack(Transaction transaction) {
        transaction.clear();
        idle.setRelease(place(), transaction);
    }

    @SuppressWarnings("deprecation") // the name that replaces it is not in Java 17
    private static int place() {
        return ((int) Thread.currentThread().getId() & (MOST - 1)) << SPACING;
    }
}
