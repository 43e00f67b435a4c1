package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Rate;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Permits charged in Redis in advance, which this instance spends on its own until a deadline on its monotonic clock.
 * Thread-safe.
 */
final class Lease {

    /** Far enough below zero to stay negative, whatever is refunded. */
    private static final long ENDED = Long.MIN_VALUE / 2;

    private final Charge whole;
    private final List<LimitStatus> statuses;
    private final long paidNanos;
    private final long sentNanos;
    private final long deadlineNanos;
    private final AtomicLong left;

    /**
     * Creates a lease of the permits that this charge took.
     *
     * @param statuses the limits' statuses after the charge
     * @param paidNanos when it was charged, by the server's clock
     * @param sentNanos the local time just before it was sent
     * @param maxNanos how long it lasts at most; never past the end of a window, whose permits are then back anyway
     */
    Lease(Charge whole, List<LimitStatus> statuses, long paidNanos, long sentNanos, long maxNanos) {
        this.whole = whole;
        this.statuses = statuses;
        this.paidNanos = paidNanos;
        this.sentNanos = sentNanos;
        long windowEnds = statuses.stream()
                .filter(status -> !isBucket(status.limit()))
                .mapToLong(LimitStatus::fullAfterNanos)
                .min()
                .orElse(maxNanos);
        this.deadlineNanos = sentNanos + Math.min(maxNanos, windowEnds);
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

    /** Spends permits if enough are left and the deadline has not passed. */
    boolean spend(long permits, long nowNanos) {
        // the deadline is checked now, not when the lease was found: the process may have paused in between
        long available = left.get();
        while (available >= permits && nowNanos - deadlineNanos < 0) {
            if (left.compareAndSet(available, available - permits)) {
                return true;
            }
            available = left.get();
        }
        return false;
    }

    /** Takes spent permits back; returns false if the lease has ended, so that they must be refunded to Redis. */
    boolean giveBack(long permits) {
        return left.addAndGet(permits) >= 0;
    }

    boolean expired(long nowNanos) {
        return nowNanos - deadlineNanos >= 0;
    }

    /** Ends the lease: nothing more can be spent. Returns what must be refunded to Redis, if anything. */
    @Nullable
    Charge end(long nowNanos, AtomicLong overdueNanos) {
        return due(Math.max(0, left.getAndSet(ENDED)), nowNanos, overdueNanos);
    }

    /**
     * The part of the unspent permits that must be refunded to Redis. Redis has been refilling a bucket since the
     * deadline; refunding those permits as well would admit them twice. For windows and logs, the time of the charge
     * decides.
     *
     * @param overdueNanos how late the key's former leases were, as far as less than a permit was deducted for it
     */
    @Nullable
    Charge due(long unspent, long nowNanos, AtomicLong overdueNanos) {
        long late = nowNanos - deadlineNanos;
        long rest = unspent > 0 && late > 0 ? unspent - refilled(late, overdueNanos) : unspent;
        return rest > 0 ? whole.policy().charge(whole.key(), rest) : null;
    }

    /** The whole permits that the fastest bucket has refilled; the time of the fraction is left for the next lease. */
    private long refilled(long lateNanos, AtomicLong overdueNanos) {
        Rate fastest = null;
        for (Limit limit : whole.policy().limits()) {
            if (isBucket(limit) && (fastest == null || perNano(limit.rate()) > perNano(fastest))) {
                fastest = limit.rate();
            }
        }
        if (fastest == null) {
            return 0;
        }
        BigInteger permits = BigInteger.valueOf(fastest.permits());
        BigInteger[] refilled = BigInteger.valueOf(lateNanos + overdueNanos.getAndSet(0))
                .multiply(permits)
                .divideAndRemainder(BigInteger.valueOf(fastest.periodNanos()));
        overdueNanos.addAndGet(refilled[1]
                .add(permits)
                .subtract(BigInteger.ONE)
                .divide(permits)
                .longValueExact());
        return refilled[0].min(BigInteger.valueOf(whole.permits())).longValueExact();
    }

    private static boolean isBucket(Limit limit) {
        return RedisLimits.of(limit).algorithm().refund() == Script.Refund.ANY_PERMITS;
    }

    private static double perNano(Rate rate) {
        return (double) rate.permits() / rate.periodNanos();
    }

    /** The limits' current statuses as far as this instance knows: others may have used more. */
    List<LimitStatus> statuses(Charge charge, long nowNanos) {
        long age = nowNanos - sentNanos;
        long unspent = left();
        List<LimitStatus> now = new ArrayList<>(statuses.size());
        for (LimitStatus status : statuses) {
            now.add(new LimitStatus(
                    charge,
                    status.limit(),
                    Math.min(status.limit().capacity(), status.remaining() + unspent),
                    0,
                    Math.max(1, status.nextAvailableNanos() - age),
                    Math.max(1, status.fullAfterNanos() - age)));
        }
        return now;
    }
}
