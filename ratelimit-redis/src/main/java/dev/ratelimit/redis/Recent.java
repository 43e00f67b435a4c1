package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Ticker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What Redis has answered last, for as many keys as fit: a key that it refused is refused here until it can be admitted,
 * and a key that has to be decided without it begins with what was left. A key that makes way for another costs one more
 * question to Redis, no more. Thread-safe, without locks.
 */
final class Recent {

    /** How one key stood. */
    record Known(Charge charge, List<LimitStatus> statuses, long atNanos) {}

    /** A key has a place in one row, and the one that was put there longer ago makes way. */
    private static final int ROW = 2;

    private final Ticker ticker;
    private final long longestRefusalNanos;
    private final AtomicReferenceArray<@Nullable Known> places;

    /**
     * Remembers nothing yet.
     *
     * @param mostKeys how many keys at most; a power of two
     * @param longestRefusalNanos for how long at most a key is refused without asking; 0 for never
     */
    Recent(Ticker ticker, int mostKeys, long longestRefusalNanos) {
        this.ticker = ticker;
        this.longestRefusalNanos = longestRefusalNanos;
        this.places = new AtomicReferenceArray<>(mostKeys);
    }

    /** Remembers how a charge's limits stand. */
    void put(Charge charge, List<LimitStatus> statuses) {
        Known known = new Known(charge, statuses, ticker.nanos());
        int row = row(charge);
        int best = row;
        for (int place = row; place < row + ROW; place++) {
            Known other = places.getPlain(place);
            if (other != null && other.charge.sameBudget(charge)) {
                best = place;
                break;
            }
            if (makesWayBefore(other, places.getPlain(best))) {
                best = place;
            }
        }
        places.setRelease(best, known);
    }

    private static boolean makesWayBefore(@Nullable Known one, @Nullable Known other) {
        return other != null && (one == null || one.atNanos - other.atNanos < 0);
    }

    /** Forgets the key, and says what was known; of several callers at once, to one. */
    @Nullable
    Known remove(Charge charge) {
        Known removed = null;
        int row = row(charge);
        for (int place = row; place < row + ROW; place++) {
            Known known = places.getAcquire(place);
            if (known != null && known.charge.sameBudget(charge) && places.compareAndSet(place, known, null)) {
                removed = known;
            }
        }
        return removed;
    }

    /** The answer to these charges, if it is known that they will be refused; it names only the limits that do. */
    @Nullable
    Decision refusal(List<Charge> charges) {
        for (Charge charge : charges) {
            Known known = get(charge);
            if (known != null
                    && known.charge.permits() == charge.permits()
                    && known.charge.policy().equals(charge.policy())) {
                List<LimitStatus> refused = refused(charge, known, age(known));
                if (!refused.isEmpty()) {
                    return new Decision(false, refused, -1);
                }
            }
        }
        return null;
    }

    /** How long ago it was known. */
    long age(Known known) {
        return ticker.nanos() - known.atNanos;
    }

    private List<LimitStatus> refused(Charge charge, Known known, long age) {
        List<LimitStatus> refused = new ArrayList<>(0);
        for (LimitStatus status : known.statuses) {
            boolean stands = age < Math.min(longestRefusalNanos, status.nextAvailableNanos());
            if (!status.admitted() && stands) {
                boolean never = status.retryAfterNanos() == Limit.NEVER;
                refused.add(new LimitStatus(
                        charge.policy(),
                        status.limit(),
                        status.remaining(),
                        never ? Limit.NEVER : status.retryAfterNanos() - age,
                        status.nextAvailableNanos() - age,
                        status.fullAfterNanos() - age));
            }
        }
        return refused;
    }

    private @Nullable Known get(Charge charge) {
        int row = row(charge);
        for (int place = row; place < row + ROW; place++) {
            Known known = places.getAcquire(place);
            if (known != null && known.charge.sameBudget(charge)) {
                return known;
            }
        }
        return null;
    }

    private int row(Charge charge) {
        int hash = (31 * charge.policy().name().hashCode() + charge.key().hashCode()) * 0x9E3779B9;
        return (hash ^ hash >>> 16) & (places.length() - ROW);
    }
}
