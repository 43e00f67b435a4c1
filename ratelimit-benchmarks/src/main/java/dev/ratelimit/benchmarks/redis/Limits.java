package dev.ratelimit.benchmarks.redis;

import java.time.Duration;

/** The three limits of every decision: for all requests together, for each endpoint, and for each user. */
record Limits(Quota global, Quota endpoint, Quota user) {

    private static final Quota FOR_MANY = new Quota(1_000_000_000, 100_000);

    /**
     * None of them refuses anybody, however fast the machine; and they fill so slowly that no state expires meanwhile: what
     * is measured is a decision about keys that are there.
     */
    static final Limits AMPLE = new Limits(FOR_MANY, FOR_MANY, new Quota(1_000_000, 1_000_000_000));

    /** The same where one user sends all the requests. */
    static final Limits AMPLE_FOR_ONE = new Limits(FOR_MANY, FOR_MANY, FOR_MANY);

    /** So many permits at once, and another one after each interval. */
    record Quota(long permits, long intervalMicros) {

        Duration period() {
            return Duration.ofMillis(permits * intervalMicros / 1_000);
        }

        double perSecond() {
            return 1e6 / intervalMicros;
        }

        long toleranceMicros() {
            return (permits - 1) * intervalMicros;
        }
    }
}
