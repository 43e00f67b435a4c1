package dev.ratelimit.simulator.statistics;

import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** What a replay has shown of one policy. Not thread-safe. */
public final class PolicyStatistics {

    /** Keys beyond this are counted together. */
    static final int MAX_KEYS = 1_000_000;

    private final String name;
    private final long periodNanos;
    private final Map<Outcome, Long> outcomes = new EnumMap<>(Outcome.class);
    private final Map<String, KeyCount> keys = new HashMap<>();
    private final TimeSeries series = new TimeSeries();
    private final Peak admittedPeak;
    private @Nullable KeyCount last;
    private long otherKeys;
    private long refused;

    PolicyStatistics(String name, long periodNanos) {
        this.name = name;
        this.periodNanos = periodNanos;
        this.admittedPeak = new Peak(periodNanos);
    }

    void count(Outcome outcome) {
        outcomes.merge(outcome, 1L, Long::sum);
    }

    void ask(long nanos, String key, long permits) {
        KeyCount count = of(key);
        if (count != null) {
            count.ask(Math.floorDiv(nanos, periodNanos), permits);
        }
    }

    void admit(long nanos, long permits) {
        series.add(nanos, false);
        admittedPeak.add(nanos, permits);
    }

    void refuse(long nanos, @Nullable String key) {
        refused++;
        series.add(nanos, true);
        KeyCount count = key == null ? null : of(key);
        if (count != null) {
            count.refuse();
        }
    }

    private @Nullable KeyCount of(String key) {
        KeyCount before = last;
        if (before != null && before.key().equals(key)) {
            return before;
        }
        last = find(key);
        return last;
    }

    private @Nullable KeyCount find(String key) {
        KeyCount count = keys.get(key);
        if (count == null) {
            if (keys.size() >= MAX_KEYS) {
                otherKeys++;
                return null;
            }
            count = new KeyCount(key);
            keys.put(key, count);
        }
        return count;
    }

    /** The name of the policy. */
    public String name() {
        return name;
    }

    /** How many requests had this outcome. */
    public long count(Outcome... any) {
        long sum = 0;
        for (Outcome outcome : any) {
            sum += outcomes.getOrDefault(outcome, 0L);
        }
        return sum;
    }

    /** How many requests it refused, or would have refused without shadow mode. */
    public long refused() {
        return refused;
    }

    /** How many requests asked for its permits and got them. */
    public long admitted() {
        return count(Outcome.ADMITTED, Outcome.WAITED);
    }

    /** How many keys asked for its permits. */
    public long keys() {
        return keys.size();
    }

    /** How many requests are missing in the figures by key, because there were too many keys. */
    public long requestsOfOtherKeys() {
        return otherKeys;
    }

    /** How many keys were refused at least once. */
    public long refusedKeys() {
        return keys.values().stream().filter(key -> key.refused() > 0).count();
    }

    /** The keys that were refused most often, most first; equal ones in the order of their names. */
    public List<KeyCount> mostRefused(int max) {
        return keys.values().stream()
                .filter(key -> key.refused() > 0)
                .sorted(Comparator.comparingLong(KeyCount::refused).reversed().thenComparing(KeyCount::key))
                .limit(max)
                .toList();
    }

    /** Of each key, the most permits that it asked for in a period of the limit, ascending. */
    public long[] demand() {
        return keys.values().stream().mapToLong(KeyCount::peak).sorted().toArray();
    }

    /** The most permits that were taken from all budgets in a period of the limit. */
    public long admittedPeak() {
        return admittedPeak.max();
    }

    /** The period of the first limit, in nanoseconds. */
    public long periodNanos() {
        return periodNanos;
    }

    /** Admitted and refused requests over time. */
    public TimeSeries series() {
        return series;
    }

    /** The sum of what all keys asked for. */
    public long requests() {
        return LongStream.concat(
                        LongStream.of(otherKeys), keys.values().stream().mapToLong(KeyCount::requests))
                .sum();
    }
}
