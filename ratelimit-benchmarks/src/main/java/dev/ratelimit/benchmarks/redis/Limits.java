package dev.ratelimit.benchmarks.redis;

import java.time.Duration;

/** The three limits of every decision: for all requests together, for each endpoint, and for each user. */
record Limits(Quota global, Quota endpoint, Quota user) {

    private static final Quota FOR_MANY = new Quota(1_000_000_000, 100_000);

    /**
     * Limits that refuse nobody, on any machine, and refill so slowly that no state expires: only decisions about
     * existing keys are measured.
     */
    static final Limits AMPLE = new Limits(FOR_MANY, FOR_MANY, new Quota(1_000_000, 1_000_000_000));

    /**
     * The same, but a user's budget is full again after a second and a half for each request: of 100,000 users at random
     * times, about half are not in Redis when they ask.
     */
    static final Limits FULL_AGAIN_IN_SECONDS = new Limits(FOR_MANY, FOR_MANY, new Quota(1_000_000, 1_500_000));

    /** The same, but no user's budget is still in Redis at the next request. */
    static final Limits FULL_AGAIN_AT_ONCE = new Limits(FOR_MANY, FOR_MANY, new Quota(1_000_000, 1_000));

    /** The same limits for a single user that sends all requests. */
    static final Limits AMPLE_FOR_ONE = new Limits(FOR_MANY, FOR_MANY, FOR_MANY);

    /** This many permits at once, and another one after each interval. */
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
