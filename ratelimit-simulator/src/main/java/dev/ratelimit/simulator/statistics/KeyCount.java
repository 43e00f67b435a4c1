package dev.ratelimit.simulator.statistics;

/** What one key asked for, and what it got. Not thread-safe. */
public final class KeyCount {

    private final String key;
    private long requests;
    private long refused;
    private long period = Long.MIN_VALUE;
    private long inPeriod;
    private long peak;

    KeyCount(String key) {
        this.key = key;
    }

    void ask(long inThisPeriod, long permits) {
        if (inThisPeriod != period) {
            period = inThisPeriod;
            inPeriod = 0;
        }
        requests++;
        inPeriod = Peak.sum(inPeriod, permits);
        peak = Math.max(peak, inPeriod);
    }

    void refuse() {
        refused++;
        // a blocked key asks for nothing
        requests = Math.max(requests, refused);
    }

    /** The key as it is charged. */
    public String key() {
        return key;
    }

    /** How many requests asked for permits of it. */
    public long requests() {
        return requests;
    }

    /** How many of them the policy refused. */
    public long refused() {
        return refused;
    }

    /** The most permits that were asked for in a period of the limit. */
    public long peak() {
        return peak;
    }
}
