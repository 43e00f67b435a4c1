package dev.ratelimit.simulator.suggest;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** What the keys of one policy ask for. Not thread-safe. */
final class PolicyDemand implements Demand {

    /** Further keys are left out. */
    static final int MAX_KEYS = 500_000;

    private final long[] rates;
    private final double[] perNano;
    private final Map<String, KeyDemand> keys = new HashMap<>();
    private long leftOut;

    /**
     * Creates the demand of no requests yet.
     *
     * @param rates in permits per period, ascending
     */
    PolicyDemand(long[] rates, long periodNanos) {
        this.rates = rates;
        this.perNano = Arrays.stream(rates)
                .mapToDouble(rate -> (double) rate / periodNanos)
                .toArray();
    }

    @Override
    public void add(long nanos, String key, long cost) {
        KeyDemand demand = keys.get(key);
        if (demand == null) {
            if (keys.size() >= MAX_KEYS) {
                leftOut++;
                return;
            }
            demand = new KeyDemand(rates.length, nanos);
            keys.put(key, demand);
        }
        demand.add(nanos, cost, perNano);
    }

    @Override
    public void refund(long nanos, String key, long cost) {
        KeyDemand demand = keys.get(key);
        if (demand != null) {
            demand.refund(nanos, cost, perNano);
        }
    }

    long[] rates() {
        return rates;
    }

    int keys() {
        return keys.size();
    }

    /** How many requests are missing because there were too many keys. */
    long leftOut() {
        return leftOut;
    }

    /** The bursts that the keys take at a rate, ascending. */
    double[] bursts(int rate) {
        return keys.values().stream()
                .mapToDouble(key -> key.burst(rate))
                .sorted()
                .toArray();
    }
}
