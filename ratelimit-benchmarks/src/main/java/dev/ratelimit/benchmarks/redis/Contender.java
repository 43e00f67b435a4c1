package dev.ratelimit.benchmarks.redis;

import io.lettuce.core.RedisClient;

/** One way to decide about a request under three limits; all callers share it and its connection. */
interface Contender {

    /** Whether the request is admitted. */
    boolean decide(String endpoint, String user);

    /** Creates the state of this user on the server, so that no measured user is new to it. */
    default void touch(String user) {
        decide("untouched", user);
    }

    /** Creates a contender. The caller closes the client and all that it has opened. */
    @FunctionalInterface
    interface Opening {
        Contender open(RedisClient client, Limits limits);
    }
}
