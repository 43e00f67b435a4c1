package dev.ratelimit.benchmarks.report;

import org.openjdk.jmh.runner.options.TimeValue;

/**
 * How often and how long each contender is measured.
 *
 * @param rounds in each of which a contender has one JVM
 * @param repeats how often at most a measurement is made again that others disturbed
 * @param warmUps iterations of a second before; Bucket4j is compiled to its end after two of them
 * @param iterations that count
 */
record Plan(int rounds, int repeats, int warmUps, int iterations, TimeValue iteration) {

    static final Plan SHORT = new Plan(3, 0, 3, 2, TimeValue.milliseconds(500));
    static final Plan FULL = new Plan(5, 2, 3, 3, TimeValue.seconds(1));

    Plan withRounds(int number) {
        return new Plan(number, repeats, warmUps, iterations, iteration);
    }
}
