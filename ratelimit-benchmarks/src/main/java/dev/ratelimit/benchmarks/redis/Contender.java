package dev.ratelimit.benchmarks.redis;

import io.lettuce.core.RedisClient;

/** One way to decide about a request under three limits; all callers share it, and its connection. */
interface Contender {

    /** Whether the request is admitted. */
    boolean decide(String endpoint, String user);

    /** Leaves the state of this user in the server, so that nobody who is measured is new to it. */
    default void touch(String user) {
        decide("untouched", user);
    }

    /** How one is made. The client and all that it has opened is closed by others. */
    @FunctionalInterface
    interface Opening {
        Contender open(RedisClient client, Limits limits);
    }
}
