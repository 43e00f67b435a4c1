package dev.ratelimit.benchmarks.report;

import org.openjdk.jmh.runner.options.TimeValue;

/**
 * How often and how long each contender is measured.
 *
 * @param rounds each contender has one JVM per round
 * @param repeats how often at most a disturbed measurement is repeated
 * @param warmUps iterations of one second before the measurement; Bucket4j is fully compiled after two of them
 * @param iterations iterations that count
 */
record Plan(int rounds, int repeats, int warmUps, int iterations, TimeValue iteration) {

    static final Plan SHORT = new Plan(3, 0, 3, 2, TimeValue.milliseconds(500));
    static final Plan FULL = new Plan(5, Integer.getInteger("repeats", 2), 3, 3, TimeValue.seconds(1));

    Plan withRounds(int number) {
        return new Plan(number, repeats, warmUps, iterations, iteration);
    }
}
