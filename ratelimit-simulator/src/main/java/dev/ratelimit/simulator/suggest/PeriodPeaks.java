package dev.ratelimit.simulator.suggest;

import dev.ratelimit.simulator.statistics.Peak;
import java.util.HashMap;
import java.util.Map;

/** The most that each key of one policy asks for in a period. Not thread-safe. */
final class PeriodPeaks implements Demand {

    private final long periodNanos;
    private final Map<String, Peak> keys = new HashMap<>();

    PeriodPeaks(long periodNanos) {
        this.periodNanos = periodNanos;
    }

    @Override
    public void add(long nanos, String key, long cost) {
        if (keys.containsKey(key) || keys.size() < PolicyDemand.MAX_KEYS) {
            keys.computeIfAbsent(key, none -> new Peak(periodNanos)).add(nanos, cost);
        }
    }

    /** Does nothing: the most that a key asks for says only which rates are tried. */
    @Override
    public void refund(long nanos, String key, long cost) {}

    /** The peaks of all keys, ascending. */
    long[] sorted() {
        return keys.values().stream().mapToLong(Peak::max).sorted().toArray();
    }
}
