package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Ticker;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What Redis has answered last, for as many keys as fit: a key that it refused is refused here until it can be admitted,
 * and a key that has to be decided without it begins with what was left. Thread-safe.
 */
final class Recent {

    /** How one key stood. */
    record Known(Charge charge, List<LimitStatus> statuses, long atNanos) {}

    private record Budget(String policy, String key) {}

    /** Keys that were used last are kept. */
    private static final class Shelf extends LinkedHashMap<Budget, Known> {

        private static final long serialVersionUID = 1L;

        private final int most;

        Shelf(int most) {
            super(16, 0.75f, true);
            this.most = most;
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<Budget, Known> eldest) {
            return size() > most;
        }
    }

    private static final int SHELVES = 64;

    private final Ticker ticker;
    private final long longestRefusalNanos;
    private final Shelf[] shelves = new Shelf[SHELVES];

    /**
     * Remembers nothing yet.
     *
     * @param mostKeys about how many keys
     * @param longestRefusalNanos for how long at most a key is refused without asking; 0 for never
     */
    Recent(Ticker ticker, int mostKeys, long longestRefusalNanos) {
        this.ticker = ticker;
        this.longestRefusalNanos = longestRefusalNanos;
        for (int i = 0; i < SHELVES; i++) {
            shelves[i] = new Shelf(Math.max(1, mostKeys / SHELVES));
        }
    }

    /** Remembers how a charge's limits stand. */
    void put(Charge charge, List<LimitStatus> statuses) {
        Budget budget = budget(charge);
        Known known = new Known(charge, statuses, ticker.nanos());
        Shelf shelf = shelf(budget);
        synchronized (shelf) {
            shelf.put(budget, known);
        }
    }

    /** Forgets the key, and says what was known. */
    @Nullable
    Known remove(Charge charge) {
        Budget budget = budget(charge);
        Shelf shelf = shelf(budget);
        synchronized (shelf) {
            return shelf.remove(budget);
        }
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
        Budget budget = budget(charge);
        Shelf shelf = shelf(budget);
        synchronized (shelf) {
            return shelf.get(budget);
        }
    }

    private static Budget budget(Charge charge) {
        return new Budget(charge.policy().name(), charge.key());
    }

    private Shelf shelf(Budget budget) {
        int hash = budget.hashCode() * 0x9E3779B9;
        return shelves[hash >>> 26];
    }
}
