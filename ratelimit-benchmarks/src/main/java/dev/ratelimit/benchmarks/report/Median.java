package dev.ratelimit.benchmarks.report;

import java.util.Arrays;
import java.util.Random;

/** The median of numbers. */
public final class Median {

    private static final int SAMPLES = 2_000;

    private Median() {}

    /** Of at least one number; of an even number of them, the mean of the two in the middle. */
    public static double of(double[] numbers) {
        double[] sorted = numbers.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /**
     * Between what the median lies with 95 % confidence, by the percentile bootstrap (Efron and Tibshirani, An Introduction
     * to the Bootstrap, 1993, chapter 13); the same for the same numbers.
     */
    public static double[] interval(double[] numbers) {
        Random random = new Random(1);
        double[] medians = new double[SAMPLES];
        for (int i = 0; i < SAMPLES; i++) {
            medians[i] = of(random.ints(numbers.length, 0, numbers.length)
                    .mapToDouble(index -> numbers[index])
                    .toArray());
        }
        Arrays.sort(medians);
        return new double[] {medians[SAMPLES / 40], medians[SAMPLES - 1 - SAMPLES / 40]};
    }
}
