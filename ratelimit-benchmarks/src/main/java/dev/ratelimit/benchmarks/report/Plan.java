package dev.ratelimit.benchmarks.report;

import org.openjdk.jmh.runner.options.TimeValue;

/**
 * How often and how long each contender is measured.
 *
 * @param rounds in each of which a contender has one JVM
 * @param warmUps iterations of a second before; Bucket4j is compiled to its end after two of them
 * @param iterations that count
 */
record Plan(int rounds, int warmUps, int iterations, TimeValue iteration) {

    static final Plan SHORT = new Plan(3, 3, 2, TimeValue.milliseconds(500));
    static final Plan FULL = new Plan(5, 3, 3, TimeValue.seconds(1));

    Plan withRounds(int number) {
        return new Plan(number, warmUps, iterations, iteration);
    }
}
