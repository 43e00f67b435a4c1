package dev.ratelimit.redis;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/**
 * How a store uses its servers.
 *
 * @param ticker the clock of this instance
 * @param scheduler alarms, and the waits of callers
 * @param deadline the maximum time of a decision
 * @param maxInFlight the maximum number of commands in flight to one server
 * @param failures how many of the last requests must fail before a server is no longer used
 * @param openFor how long it is then not used, at first
 * @param edition replaces each script before it runs
 * @param threads runs what blocks: attempts to connect
 * @param random spreads what instances would otherwise do at the same time
 */
record ServerSettings(
        Ticker ticker,
        Scheduler scheduler,
        Duration deadline,
        int maxInFlight,
        int failures,
        Duration openFor,
        UnaryOperator<Script> edition,
        Executor threads,
        RandomGenerator random) {

    /** A new breaker for one server. */
    Breaker breaker() {
        return new Breaker(ticker, failures, openFor.toNanos(), random);
    }
}
