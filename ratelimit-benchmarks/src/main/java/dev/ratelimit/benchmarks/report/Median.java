package dev.ratelimit.benchmarks.report;

import java.util.Arrays;

/** The median of numbers. */
public final class Median {

    private Median() {}

    /** Of at least one number; of an even number of them, the mean of the two in the middle. */
    public static double of(double[] numbers) {
        double[] sorted = numbers.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }
}
