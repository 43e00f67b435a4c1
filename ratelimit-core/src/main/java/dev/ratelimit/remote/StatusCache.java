package dev.ratelimit.remote;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Ticker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A bounded cache of the statuses that servers told last: a key that a server refused is refused locally until it can be
 * admitted, and a key that must be decided without its server starts with its last known state. An evicted key costs one
 * more request, nothing else. Thread-safe and lock-free.
 */
final class StatusCache {

    /** The known statuses of one key; empty if it was forgotten. */
    record Known(Charge charge, List<LimitStatus> statuses, long atNanos, long asked) {

        private Known forgotten() {
            return new Known(charge, List.of(), atNanos, asked);
        }

        private boolean sameBudget(@Nullable Known other) {
            return other != null && charge.sameBudget(other.charge);
        }
    }

    /** Each key belongs to one row; the older entry of a row is evicted. */
    private static final int ROW = 2;

    private final Ticker ticker;
    private final long maxRefusalNanos;
    private final AtomicReferenceArray<@Nullable Known> places;
    private final AtomicLong forgotten = new AtomicLong();

    /**
     * Creates an empty cache.
     *
     * @param maxKeys the maximum number of keys, a power of two
     * @param maxRefusalNanos how long at most a key is refused without asking; 0 for never
     */
    StatusCache(Ticker ticker, int maxKeys, long maxRefusalNanos) {
        this.ticker = ticker;
        this.maxRefusalNanos = maxRefusalNanos;
        this.places = new AtomicReferenceArray<>(maxKeys);
    }

    /** A moment, as the number of keys forgotten so far. */
    long now() {
        return forgotten.get();
    }

    /**
     * Remembers the statuses of a charge's limits, unless its key was forgotten meanwhile.
     *
     * @param asked the {@linkplain #now moment} when the server was asked
     */
    void put(Charge charge, List<LimitStatus> statuses, long asked) {
        replace(new Known(charge, statuses, ticker.nanos(), asked));
    }

    /** Forgets the key, including statuses that are not remembered yet. */
    void forget(Charge charge) {
        replace(new Known(charge, List.of(), ticker.nanos(), forgotten.incrementAndGet()));
    }

    private void replace(Known known) {
        int row = row(known.charge);
        boolean done = false;
        while (!done) {
            int best = row;
            Known former = places.getAcquire(row);
            for (int place = row + 1; place < row + ROW; place++) {
                Known other = places.getAcquire(place);
                if (!known.sameBudget(former) && (known.sameBudget(other) || makesWayBefore(other, former))) {
                    best = place;
                    former = other;
                }
            }
            boolean outdated = known.sameBudget(former) && former != null && former.asked > known.asked;
            done = outdated || places.compareAndSet(best, former, known);
        }
    }

    private static boolean makesWayBefore(@Nullable Known one, @Nullable Known other) {
        return other != null && (one == null || one.atNanos - other.atNanos < 0);
    }

    /** The known statuses of the key; {@code null} if there are none. */
    @Nullable
    Known known(Charge charge) {
        Known known = get(charge);
        return known == null || known.statuses.isEmpty() ? null : known;
    }

    /** Removes these statuses, unless there are newer ones; an older reply that comes later changes nothing. */
    void remove(Known known) {
        int row = row(known.charge);
        for (int place = row; place < row + ROW; place++) {
            places.compareAndSet(place, known, known.forgotten());
        }
    }

    /** The refusal of these charges if it is certain; it contains only the limits that refuse. */
    @Nullable
    Decision refusal(List<Charge> charges) {
        for (Charge charge : charges) {
            Known known = get(charge);
            if (known != null
                    && !othersMayPenalize(charge, charges)
                    && known.charge.permits() == charge.permits()
                    && known.charge.policy().equals(charge.policy())) {
                List<LimitStatus> refused = refused(charge, known, age(known));
                if (!refused.isEmpty()) {
                    return new Decision(false, charges, List.copyOf(refused), null);
                }
            }
        }
        return null;
    }

    /** Whether a policy of the other charges has a penalty: the server must be asked, because it may start now. */
    private static boolean othersMayPenalize(Charge charge, List<Charge> charges) {
        for (Charge other : charges) {
            if (!other.sameBudget(charge) && other.policy().penalty() != null) {
                return true;
            }
        }
        return false;
    }

    /** The age of the entry. */
    long age(Known known) {
        return ticker.nanos() - known.atNanos;
    }

    private List<LimitStatus> refused(Charge charge, Known known, long age) {
        List<LimitStatus> refused = new ArrayList<>(0);
        for (LimitStatus status : known.statuses) {
            boolean stands = age < Math.min(maxRefusalNanos, status.nextAvailableNanos());
            // another instance may give back a permit of a concurrency limit at any time
            if (!status.admitted() && stands && !status.limit().concurrency()) {
                boolean never = status.retryAfterNanos() == LimitAlgorithm.NEVER;
                refused.add(new LimitStatus(
                        charge,
                        status.limit(),
                        status.remaining(),
                        never ? LimitAlgorithm.NEVER : status.retryAfterNanos() - age,
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
