package dev.ratelimit.lease;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Scheduler.Alarm;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Permits that a store has charged in advance, and that are spent until a deadline. Thread-safe. */
final class Lease {

    /** Far enough below zero to stay negative, whatever is given back. */
    private static final long ENDED = Long.MIN_VALUE / 2;

    private final Decision decision;
    private final Charge whole;
    private final long sentNanos;
    private final long lifeNanos;
    private final long maxAgeNanos;
    private final Alarm alarm;
    private final AtomicLong left;

    /**
     * Creates a lease of the permits that this decision took. It never lasts longer than a window, at whose end its permits
     * are back anyway.
     *
     * @param decision of one charge, admitted
     * @param sentNanos the time just before the store was asked
     * @param maxAgeNanos when the unspent permits must be back
     * @param alarm rings when the lease is over
     */
    Lease(Decision decision, long sentNanos, long maxAgeNanos, Alarm alarm) {
        this.decision = decision;
        this.whole = decision.charges().get(0);
        this.sentNanos = sentNanos;
        this.lifeNanos = decision.limits().stream()
                .filter(status -> !refundsAnyPermits(LimitAlgorithm.of(status.limit())))
                .mapToLong(LimitStatus::fullAfterNanos)
                .reduce(lifeNanos(maxAgeNanos), Math::min);
        this.maxAgeNanos = maxAgeNanos;
        this.alarm = alarm;
        this.left = new AtomicLong(whole.permits());
    }

    /** How long a lease is spent at most: time is left for its end. */
    static long lifeNanos(long maxAgeNanos) {
        return maxAgeNanos - maxAgeNanos / 4;
    }

    Decision decision() {
        return decision;
    }

    long permits() {
        return whole.permits();
    }

    long left() {
        return Math.max(0, left.get());
    }

    private boolean isOver(long nowNanos) {
        return nowNanos - sentNanos >= lifeNanos;
    }

    /** Spends a charge if it is to the same limits, enough permits are left, and the lease is not over. */
    boolean spend(Charge charge, long nowNanos) {
        boolean spends = whole.policy().equals(charge.policy()) && !isOver(nowNanos);
        long available = left.get();
        while (spends && available >= charge.permits()) {
            if (left.compareAndSet(available, available - charge.permits())) {
                return true;
            }
            available = left.get();
        }
        return false;
    }

    /** Takes spent permits back; returns false if the lease has ended, so that they must be refunded to the store. */
    boolean giveBack(long permits) {
        return left.addAndGet(permits) >= 0;
    }

    /** Ends the lease: nothing more can be spent. Returns the unspent permits, the first time. */
    @CanIgnoreReturnValue
    long stop() {
        return Math.max(0, left.getAndSet(ENDED));
    }

    /** Releases the alarm of a lease that was stopped. */
    void cancelAlarm() {
        alarm.cancel();
    }

    /**
     * The part of unspent permits that the store must get back. Buckets have been refilling since the charge, and take any
     * permits back: those that come late would be admitted twice. Other limits know which permits of the charge still count.
     */
    Charge due(long unspent, long nowNanos) {
        long age = nowNanos - sentNanos;
        long refilled = 0;
        if (age > maxAgeNanos) {
            for (LimitAlgorithm limit : whole.policy().algorithms()) {
                refilled = Math.max(refilled, refundsAnyPermits(limit) ? 1 + refilled(limit, age) : 0);
            }
        }
        return whole.policy().charge(whole.key(), Math.max(0, unspent - refilled));
    }

    private long refilled(LimitAlgorithm limit, long ageNanos) {
        return limit.remaining(charged(limit, whole.permits()), 0, ageNanos) - (limit.capacity() - whole.permits());
    }

    /** Whether a refund returns permits however long ago they were charged, also those that have come back by themselves. */
    private static boolean refundsAnyPermits(LimitAlgorithm limit) {
        long[] state = charged(limit, 1);
        limit.refund(state, 0, 1, Long.MAX_VALUE / 4, 0);
        return limit.remaining(state, 0, 0) == limit.capacity();
    }

    /** The state of a key that was charged at time 0. */
    private static long[] charged(LimitAlgorithm limit, long permits) {
        long[] state = new long[limit.stateSize()];
        limit.clear(state, 0, 0);
        state = limit.grow(state, 0, permits, 0);
        limit.charge(state, 0, permits, 0);
        return state;
    }

    /** The statuses of the limits as far as this instance knows: others may have used more. */
    List<LimitStatus> statuses(Charge charge, long nowNanos) {
        long age = nowNanos - sentNanos;
        long unspent = left();
        return decision.limits().stream()
                .map(status -> new LimitStatus(
                        charge,
                        status.limit(),
                        Math.min(status.limit().capacity(), status.remaining() + unspent),
                        0,
                        Math.max(1, status.nextAvailableNanos() - age),
                        Math.max(1, status.fullAfterNanos() - age)))
                .toList();
    }
}
