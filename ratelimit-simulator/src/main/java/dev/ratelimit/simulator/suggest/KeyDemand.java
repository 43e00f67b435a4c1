package dev.ratelimit.simulator.suggest;

/**
 * What one key asks for: for each of some rates, the burst that it takes to refuse none of its requests. That is the
 * highest level of a bucket that leaks at this rate, whatever the burst turns out to be. Not thread-safe.
 */
final class KeyDemand {

    private final double[] level;
    private final double[] burst;
    private long last;

    KeyDemand(int rates, long nanos) {
        this.level = new double[rates];
        this.burst = new double[rates];
        this.last = nanos;
    }

    /**
     * Adds a request.
     *
     * @param perNano the rates, in permits per nanosecond
     */
    void add(long nanos, long cost, double[] perNano) {
        leak(nanos, perNano);
        for (int i = 0; i < perNano.length; i++) {
            level[i] += cost;
            burst[i] = Math.max(burst[i], level[i]);
        }
    }

    /** Takes a request back, as its status is free; until now, it needed its permits. */
    void refund(long nanos, long cost, double[] perNano) {
        leak(nanos, perNano);
        for (int i = 0; i < perNano.length; i++) {
            level[i] = Math.max(0, level[i] - cost);
        }
    }

    private void leak(long nanos, double[] perNano) {
        double passed = Math.max(0, nanos - last);
        last = Math.max(last, nanos);
        for (int i = 0; i < perNano.length; i++) {
            level[i] = Math.max(0, level[i] - passed * perNano[i]);
        }
    }

    /** The burst that it takes at a rate. */
    double burst(int rate) {
        return burst[rate];
    }
}
