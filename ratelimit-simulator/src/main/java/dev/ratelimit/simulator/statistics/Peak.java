package dev.ratelimit.simulator.statistics;

/** The maximum of a sum within any period of a clock that begins at its multiples, such as any minute. Not thread-safe. */
public final class Peak {

    private final long periodNanos;
    private long period = Long.MIN_VALUE;
    private long sum;
    private long max;

    /**
     * Creates a peak of nothing yet.
     *
     * @param periodNanos above 0
     */
    public Peak(long periodNanos) {
        this.periodNanos = periodNanos;
    }

    /** Adds to the sum of the period in which this time is; times do not go backwards. */
    public void add(long nanos, long count) {
        long now = Math.floorDiv(nanos, periodNanos);
        if (now != period) {
            period = now;
            sum = 0;
        }
        sum = sum(sum, count);
        max = Math.max(max, sum);
    }

    /** The sum of two numbers of at least 0; the highest number if it is too high. */
    static long sum(long one, long other) {
        long sum = one + other;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    /** The maximum so far. */
    public long max() {
        return max;
    }
}
