package dev.ratelimit.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ratelimit.Charge;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The leases of one key: the one that is spent, and the next. The monitor decides who requests a lease, and who takes one
 * away to end it, so that each is requested and ended once. Thread-safe.
 */
final class KeyLeases {

    /**
     * When {@code asked} began to count. For this and the next three fields, approximate is enough: several threads that
     * write at once make a lease come earlier or later, or larger or smaller, and Redis decides each.
     */
    volatile long sinceNanos;

    /** How many charges Redis was asked for. */
    final AtomicInteger asked = new AtomicInteger();

    /** How many permits the next lease should have. */
    volatile long wanted = Leases.FIRST;

    /** How many permits Redis had when it was last heard. */
    volatile long remaining;

    /** See {@link Lease#due}. */
    final AtomicLong overdueNanos = new AtomicLong();

    /** The reset before these leases are charged, if what it has dropped may still be on its way. */
    @GuardedBy("this")
    private @Nullable Reset before;

    /** The reset of the key since these leases were charged, if any: it decides what becomes of them. */
    @GuardedBy("this")
    private @Nullable Reset reset;

    /** Written under the monitor, and read without it: a lease that was taken away meanwhile has ended, and refuses. */
    private volatile @Nullable Lease lease;

    private volatile @Nullable Lease next;

    /** Completed while no lease is requested. Replaced under the monitor. */
    private volatile CompletableFuture<Void> awaited = CompletableFuture.completedFuture(null);

    @GuardedBy("this")
    private boolean retired;

    /** The first leases of a key. */
    KeyLeases() {
        this.before = null;
    }

    /** The leases of a key after a reset. */
    KeyLeases(Reset before, long nowNanos) {
        this.before = before;
        this.sinceNanos = nowNanos;
    }

    /** The lease to spend from. */
    @Nullable
    Lease lease() {
        return lease;
    }

    boolean hasNext() {
        return next != null;
    }

    /** Completed when no lease is requested any more. */
    CompletableFuture<Void> awaited() {
        return awaited;
    }

    boolean asking() {
        return !awaited.isDone();
    }

    /**
     * The future to complete when a lease arrives; {@code null} if no lease should be requested, also because a reset that
     * has not ended could erase it.
     */
    synchronized @Nullable CompletableFuture<Void> expect() {
        if (retired || next != null || asking() || (before != null && !before.hasEnded())) {
            return null;
        }
        CompletableFuture<Void> expected = new CompletableFuture<>();
        awaited = expected;
        return expected;
    }

    /** Stores a lease that has arrived; after a reset, it belongs to nobody. */
    synchronized void receive(Lease arrived) {
        if (reset != null) {
            reset.add(arrived);
        } else if (lease == null) {
            lease = arrived;
        } else {
            next = arrived;
        }
    }

    /** Replaces this lease by the next one unless that has already happened; returns the lease to end. */
    synchronized @Nullable Lease turn(@Nullable Lease spent) {
        if (lease != spent || next == null) {
            return null;
        }
        lease = next;
        next = null;
        return spent;
    }

    /** Removes both leases. */
    synchronized List<Lease> empty() {
        List<Lease> both = Stream.of(lease, next).filter(Objects::nonNull).toList();
        lease = null;
        next = null;
        return both;
    }

    /**
     * Hands both leases to a reset that is about to be sent; requests nothing from now on. Whatever is refunded was
     * sent before that reset, or is left to it.
     */
    synchronized void drop(Reset by) {
        if (before != null) {
            before.followedBy(by);
            before = null;
        }
        reset = by;
        retired = true;
        by.take(this, empty());
    }

    /** Refunds the rest of a lease that has ended. */
    synchronized void refund(Leases.LeaseSource source, Charge due, long paidNanos) {
        if (reset == null) {
            source.refund(due, paidNanos);
        } else {
            reset.refund(due, paidNanos);
        }
    }

    /**
     * Requests nothing from now on, if nothing is leased or requested: a thread that still has these leases when their key
     * is forgotten would request one that nobody ends.
     *
     * @return whether the key may be forgotten
     */
    synchronized boolean retire() {
        retired |= lease == null && !asking() && (before == null || before.isOver());
        return retired;
    }
}
