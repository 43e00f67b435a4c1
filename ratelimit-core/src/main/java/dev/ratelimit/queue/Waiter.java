package dev.ratelimit.queue;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Scheduler;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A caller who waits. What may change is guarded by the lock of the {@link Hall} until the caller has left it. */
final class Waiter {

    final CompletableFuture<Decision> result;
    final List<Charge> charges;
    final Supplier<Decision> decide;

    /** Counts arrivals: others may come before this caller only if their line is served in that order. */
    long number;

    /** The budget whose permits it waits for, and how many. */
    Charge at;

    /** When the wait ends; it never grows. */
    long deadline;

    /** When its permits were expected to be there, with those ahead of it. */
    long expected;

    /** The last answer of the store, and when it came. */
    Decision last;

    long lastAt;

    /** Where it waits; {@code null} before and afterwards. */
    @Nullable
    Line line;

    /** What it gets; {@code null} if it is refused. */
    @Nullable
    Decision admission;

    /** Why it cannot be served. */
    @Nullable
    Throwable failure;

    /** The next one of those who left at the same time and are to be answered. */
    @Nullable
    Waiter next;

    /** The alarm that ends its wait, and when that rings. */
    Scheduler.@Nullable Alarm expiry;

    long expiryAt;

    /**
     * Creates a caller who does not wait yet.
     *
     * @param at the budget whose permits it is to wait for
     * @param last why it has to wait
     * @param now when the store said so
     */
    Waiter(
            CompletableFuture<Decision> result,
            List<Charge> charges,
            Supplier<Decision> decide,
            Charge at,
            Decision last,
            long now) {
        this.result = result;
        this.charges = charges;
        this.decide = decide;
        this.at = at;
        this.last = last;
        this.lastAt = now;
        this.expected = now;
        this.deadline = now;
    }
}
