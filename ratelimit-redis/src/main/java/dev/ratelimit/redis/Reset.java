package dev.ratelimit.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ratelimit.Charge;
import dev.ratelimit.Ticker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A reset of a key, which erases what was charged for its leases, or fails. What it has not erased is refunded, unless a
 * later reset may erase it: a refund that comes after that would give back permits of somebody else. Thread-safe.
 */
final class Reset {

    private record Due(Charge charge, long paidNanos) {}

    private final Leases.LeaseSource source;
    private final Ticker ticker;

    /** The leases of the key until now; {@code null} if it had none. */
    @GuardedBy("this")
    private @Nullable KeyLeases dropped;

    /** The leases whose charge may be erased. */
    @GuardedBy("this")
    private final List<Lease> leases = new ArrayList<>(2);

    /** The rests of leases that ended before it was known what is erased. */
    @GuardedBy("this")
    private final List<Due> rests = new ArrayList<>(2);

    /** The time of the reset by the server's clock, 0 if it has failed; negative until that is known. */
    @GuardedBy("this")
    private long erasedNanos = -1;

    @GuardedBy("this")
    private @Nullable Reset next;

    Reset(Leases.LeaseSource source, Ticker ticker) {
        this.source = source;
        this.ticker = ticker;
    }

    /** Takes the leases of a key, whose charges may be erased. */
    synchronized void take(KeyLeases from, List<Lease> both) {
        dropped = from;
        leases.addAll(both);
    }

    /** Takes a lease that has arrived since. */
    synchronized void add(Lease lease) {
        if (erasedNanos < 0) {
            leases.add(lease);
        } else {
            end(lease);
        }
    }

    /** Refunds the rest of a lease, unless its charge is erased. */
    synchronized void refund(Charge due, long paidNanos) {
        if (erasedNanos < 0) {
            rests.add(new Due(due, paidNanos));
        } else if (paidNanos > erasedNanos) {
            if (next == null) {
                source.refund(due, paidNanos);
            } else {
                next.refund(due, paidNanos);
            }
        }
    }

    /**
     * Refunds what was charged later.
     *
     * @param atMicros the time of the reset by the server's clock; 0 if it has failed
     */
    synchronized void ended(long atMicros) {
        erasedNanos = atMicros * 1000;
        leases.forEach(this::end);
        leases.clear();
        rests.forEach(due -> refund(due.charge(), due.paidNanos()));
        rests.clear();
    }

    @GuardedBy("this")
    private void end(Lease lease) {
        AtomicLong overdue = dropped == null ? new AtomicLong() : dropped.overdueNanos;
        Charge due = lease.end(ticker.nanos(), overdue);
        if (due != null) {
            refund(due, lease.paidNanos());
        }
    }

    /** Leaves what may be refunded from now on to a later reset, which is about to be sent. */
    synchronized void followedBy(Reset later) {
        next = later;
    }

    /** Whether it has erased what it erases. */
    synchronized boolean hasEnded() {
        return erasedNanos >= 0;
    }

    /** Whether nothing will be refunded any more. */
    synchronized boolean isOver() {
        return hasEnded() && (dropped == null || !dropped.asking());
    }
}
