package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What servers granted of one key and callers have not returned, and whether it is within the bounds of
 * docs/algorithms.md and docs/redis.md. Counts shares of a limit instead of permits, because those are what remains when
 * a limit is changed.
 */
final class Bounds {

    /**
     * A fault that gives permits back: all of them, or those of the time by which a server's clock was set forward.
     *
     * @param nanos how far the clock was set; {@link #ALL} if data were lost
     */
    record Gain(long atNanos, long nanos) {}

    /** The time in which any limit is full again. */
    static final long ALL = Long.MAX_VALUE;

    /** Servers' clocks count microseconds, and every reading of an instance's takes time. */
    private static final long SLACK_NANOS = 1_000_000;

    /** What sums of shares may differ from what they stand for. */
    private static final double ROUNDING = 1e-9;

    /** Permits that a server granted, and when they were spent and returned. */
    private static final class Grant {
        private final Decision decision;
        private final long atNanos;
        private double share;
        private long returnedNanos = Long.MAX_VALUE;

        private Grant(Decision decision, double share, long atNanos) {
            this.decision = decision;
            this.share = share;
            this.atNanos = atNanos;
        }
    }

    private final World world;
    private final String key;
    private final LimitAlgorithm limit;
    private final long leaseNanos;
    private final List<Grant> grants = new ArrayList<>();
    private boolean returned;
    private long capacity;

    /** The shortest time in which a version of the limit is full again. */
    private long fullNanos = Long.MAX_VALUE;

    /**
     * Creates the bounds of a key without grants.
     *
     * @param limit any version of its limit
     * @param leaseNanos for how long permits are kept before they are spent
     */
    Bounds(World world, String key, LimitAlgorithm limit, long leaseNanos) {
        this.world = world;
        this.key = key;
        this.limit = limit;
        this.leaseNanos = leaseNanos;
    }

    /** Records permits that a caller got of this version of the limit. */
    void granted(Decision decision, Charge charge, LimitAlgorithm version, long atNanos) {
        long whole = version.capacity();
        fullNanos = Math.min(fullNanos, version.replenishNanos());
        capacity = Math.max(capacity, whole);
        // when a limit changes, held permits stay the same, and others become a share of the new one
        grants.add(new Grant(decision, (double) charge.permits() / (isHeld() ? 1 : whole), atNanos));
    }

    private boolean isHeld() {
        return limit instanceof Concurrency;
    }

    /** Records that a caller is about to return so many permits of a charge. */
    @SuppressWarnings("ReferenceEquality") // two decisions may be equal
    void returned(Decision decision, Charge charge, long permits) {
        returned = true;
        for (Grant grant : List.copyOf(grants)) {
            if (grant.decision == decision && charge.permits() > 0) {
                double kept = grant.share * (charge.permits() - permits) / charge.permits();
                grants.add(new Grant(decision, kept, grant.atNanos));
                grant.share -= kept;
                grant.returnedNanos = world.now();
            }
        }
    }

    /**
     * Checks them.
     *
     * @param refunded how many permits the store has refunded, which a bucket may have refilled before
     */
    void require(List<Gain> gains, long refunded) {
        // a lease may be spent after a fault, and charged before
        if (grants.isEmpty() || (leaseNanos > 0 && !gains.isEmpty())) {
            return;
        }
        grants.sort(Comparator.comparingLong(grant -> grant.atNanos));
        if (isHeld()) {
            requireWindow(gains, (double) capacity, (double) capacity);
        } else if (limit instanceof SlidingLog) {
            requireWindow(gains, 1, 1);
        } else if (limit instanceof FixedWindow) {
            // a clock may jump to the end of another window
            requireWindow(gains, 2, limit.wallClock() ? 2 : 1);
        } else if (limit instanceof SlidingWindow && leaseNanos == 0) {
            requireWindow(gains, 2 - 1.0 / capacity, 1);
        } else if (limit instanceof TokenBucket && !returned) {
            requireBucket(gains, leaseNanos > 0 ? 0 : (double) refunded / capacity);
        }
    }

    /** In any interval of length t, a bucket grants at most its capacity, its rate times t, and what was refunded. */
    private void requireBucket(List<Gain> gains, double refunded) {
        double perNano = 1.0 / fullNanos;
        double bound = 1 + refunded + (leaseNanos + SLACK_NANOS) * perNano + ROUNDING;
        double level = 0;
        long at = 0;
        int gained = 0;
        for (Grant grant : grants) {
            double drained = (grant.atNanos - at) * perNano;
            while (gained < gains.size() && gains.get(gained).atNanos <= grant.atNanos) {
                drained += gains.get(gained++).nanos * perNano;
            }
            level = Math.max(0, level - drained) + grant.share;
            at = grant.atNanos;
            world.require(
                    level <= bound,
                    "servers granted %.2f of %s, and must not grant more than %.2f at once",
                    level * capacity,
                    key,
                    bound * capacity);
        }
    }

    /**
     * A log grants its limit in one length of its window, and other windows at most twice as much.
     *
     * @param more how much more after each gain
     */
    private void requireWindow(List<Gain> gains, double bound, double more) {
        long windowNanos = limit.replenishNanos();
        for (Grant last : grants) {
            double granted = 0;
            for (Grant grant : grants) {
                boolean counts = grant.atNanos <= last.atNanos
                        && last.atNanos - grant.atNanos < windowNanos - SLACK_NANOS
                        && grant.returnedNanos > last.atNanos;
                granted += counts ? grant.share : 0;
            }
            long gained = gains.stream()
                    .filter(gain -> gain.atNanos <= last.atNanos && last.atNanos - gain.atNanos < windowNanos)
                    .count();
            double most = bound + gained * more;
            world.require(
                    granted <= most + ROUNDING,
                    "servers granted %.2f of %s in one window, and must not grant more than %.2f",
                    granted * (isHeld() ? 1 : capacity),
                    key,
                    most * (isHeld() ? 1 : capacity));
        }
    }
}
