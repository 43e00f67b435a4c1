package dev.ratelimit.spring.rules.traffic;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How full the fullest keys of each policy were, at most, in the current and the previous minute. A decision about a key that
 * is not among the fullest only compares a number.
 *
 * <p>Memory: at most {@link #KEYS} keys per policy and minute, each of about 200 bytes. Thread-safe.
 */
public final class Utilization implements OutcomeCounter {

    /** The maximum number of keys of a policy that are listed. */
    public static final int KEYS = 20;

    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** The parts of a limit that are told apart. */
    private static final int PARTS = 1_000;

    private final Ticker ticker;
    private final long startNanos;
    private final Map<String, OfPolicy> policies = new ConcurrentHashMap<>();

    /**
     * A key, when it was fullest.
     *
     * @param perMille how many thousandths of the limit were used, rounded down, 0 to 1000
     * @param limit the fullest of its limits
     * @param remaining permits
     */
    public record Full(String key, int perMille, Limit limit, long remaining) {

        private static final Comparator<Full> FULLEST_FIRST =
                Comparator.comparingInt(Full::perMille).reversed().thenComparing(Full::key);

        /** The used part of the limit, 0 to 1. */
        public double utilization() {
            return perMille / (double) PARTS;
        }
    }

    /** Begins to look. */
    public Utilization(Ticker ticker) {
        this.ticker = ticker;
        this.startNanos = ticker.nanos();
    }

    /** Counts nothing. */
    @Override
    public void count(String policy, Outcome outcome) {}

    @Override
    public boolean readsLimits() {
        return true;
    }

    @Override
    public void decided(List<LimitStatus> limits) {
        if (limits.isEmpty()) {
            return;
        }
        long minute = minute();
        for (int i = 0; i < limits.size(); i++) {
            LimitStatus status = limits.get(i);
            int used = used(status);
            if (used > 0) {
                of(status.policy().name()).at(minute).note(status, used);
            }
        }
    }

    private long minute() {
        return (ticker.nanos() - startNanos) / MINUTE_NANOS;
    }

    private static int used(LimitStatus status) {
        double capacity = status.limit().capacity();
        return (int) (PARTS * Math.max(0, Math.min(1, (capacity - status.remaining()) / capacity)));
    }

    private OfPolicy of(String policy) {
        OfPolicy known = policies.get(policy);
        return known != null ? known : policies.computeIfAbsent(policy, name -> new OfPolicy());
    }

    /** The fullest keys of a policy in the current and the previous minute, at most {@link #KEYS}, the fullest first. */
    public List<Full> fullest(String policy) {
        OfPolicy known = policies.get(policy);
        return known == null ? List.of() : known.fullest(minute());
    }

    /** The used part of the limit of the fullest key of a policy, 0 to 1; 0 if none was charged lately. */
    public double ofFullest(String policy) {
        List<Full> fullest = fullest(policy);
        return fullest.isEmpty() ? 0 : fullest.get(0).utilization();
    }

    /** The keys of one policy. */
    private static final class OfPolicy {

        private volatile Minute now = new Minute(0);
        private volatile @Nullable Minute before;

        Minute at(long minute) {
            Minute known = now;
            return known.number >= minute ? known : begin(minute);
        }

        private synchronized Minute begin(long minute) {
            if (now.number < minute) {
                before = now;
                now = new Minute(minute);
            }
            return now;
        }

        List<Full> fullest(long minute) {
            Minute last = now;
            Minute earlier = before;
            Map<String, Full> all = new ConcurrentHashMap<>();
            Stream.of(last, earlier == null ? last : earlier)
                    .filter(one -> one.number >= minute - 1)
                    .flatMap(one -> one.keys.values().stream())
                    .forEach(one -> all.merge(one.key(), one, (a, b) -> Full.FULLEST_FIRST.compare(a, b) <= 0 ? a : b));
            return all.values().stream().sorted(Full.FULLEST_FIRST).limit(KEYS).toList();
        }
    }

    /** The fullest keys of a minute. */
    private static final class Minute {

        private final long number;

        /** Changed with the lock. */
        private final Map<String, Full> keys = new ConcurrentHashMap<>();

        /** A key that is no fuller is not among them; as long as there is room, any is. */
        private volatile int floor;

        Minute(long number) {
            this.number = number;
        }

        void note(LimitStatus status, int used) {
            if (used > floor) {
                Full known = keys.get(status.charge().key());
                if (known == null || known.perMille() < used) {
                    put(new Full(status.charge().key(), used, status.limit(), status.remaining()));
                }
            }
        }

        private synchronized void put(Full full) {
            Full known = keys.get(full.key());
            if (full.perMille() <= floor || (known != null && known.perMille() >= full.perMille())) {
                return;
            }
            keys.put(full.key(), full);
            if (keys.size() > KEYS) {
                Full last = keys.values().stream().max(Full.FULLEST_FIRST).orElseThrow();
                keys.remove(last.key());
            }
            if (keys.size() == KEYS) {
                floor = keys.values().stream().mapToInt(Full::perMille).min().orElse(0);
            }
        }
    }
}
