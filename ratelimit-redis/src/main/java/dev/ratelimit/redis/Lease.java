package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Permits that Redis has been paid for, and that this instance spends by itself until a deadline on its own monotonic
 * clock. Thread-safe.
 */
final class Lease {

    /** Far enough below zero to stay there, whatever is given back. */
    private static final long ENDED = Long.MIN_VALUE / 2;

    private final Charge whole;
    private final List<LimitStatus> statuses;
    private final long paidNanos;
    private final long sentNanos;
    private final long deadlineNanos;
    private final AtomicLong left;

    /**
     * A lease of what this charge took.
     *
     * @param statuses how the limits stood after it
     * @param paidNanos when, by the server's clock
     * @param sentNanos the moment on the local clock before it was sent
     * @param mostNanos for how long it holds at most; never over the end of a window
     */
    Lease(Charge whole, List<LimitStatus> statuses, long paidNanos, long sentNanos, long mostNanos) {
        this.whole = whole;
        this.statuses = statuses;
        this.paidNanos = paidNanos;
        this.sentNanos = sentNanos;
        long soonestFull =
                statuses.stream().mapToLong(LimitStatus::fullAfterNanos).min().orElse(0);
        this.deadlineNanos = sentNanos + Math.min(mostNanos, soonestFull);
        this.left = new AtomicLong(whole.permits());
    }

    Charge whole() {
        return whole;
    }

    long paidNanos() {
        return paidNanos;
    }

    long left() {
        return Math.max(0, left.get());
    }

    /** Spends permits, if so many are left and the deadline has not passed. */
    boolean spend(long permits, long nowNanos) {
        // the deadline is looked at now, not when the lease was found: a process may stand still in between
        long available = left.get();
        while (available >= permits && nowNanos - deadlineNanos < 0) {
            if (left.compareAndSet(available, available - permits)) {
                return true;
            }
            available = left.get();
        }
        return false;
    }

    /** Takes spent permits back; false when the lease has ended, so that they are to go to Redis. */
    boolean giveBack(long permits) {
        return left.addAndGet(permits) >= 0;
    }

    boolean expired(long nowNanos) {
        return nowNanos - deadlineNanos >= 0;
    }

    /** Nothing more can be spent; returns what is to go back to Redis, if anything. */
    @Nullable
    Charge end() {
        long unspent = left.getAndSet(ENDED);
        return unspent > 0 ? whole.policy().charge(whole.key(), unspent) : null;
    }

    /** How the limits stand now, as far as is known here: others may have used more of them. */
    List<LimitStatus> statuses(long nowNanos) {
        long age = nowNanos - sentNanos;
        long unspent = left();
        List<LimitStatus> now = new ArrayList<>(statuses.size());
        for (LimitStatus status : statuses) {
            now.add(new LimitStatus(
                    whole.policy(),
                    status.limit(),
                    Math.min(status.limit().capacity(), status.remaining() + unspent),
                    0,
                    Math.max(1, status.nextAvailableNanos() - age),
                    Math.max(1, status.fullAfterNanos() - age)));
        }
        return now;
    }
}
