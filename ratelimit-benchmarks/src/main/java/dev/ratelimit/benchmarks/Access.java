package dev.ratelimit.benchmarks;

import java.util.Arrays;
import java.util.Random;
import java.util.function.IntSupplier;

/** How often each key is used. */
public enum Access {
    /** All keys are used equally often. */
    UNIFORM {
        @Override
        IntSupplier ranks(int keys, Random random) {
            return () -> random.nextInt(keys);
        }
    },
    /** Zipf's law with exponent 0.99: of a million keys, the first is used in one of 15 calls. */
    ZIPF {
        @Override
        IntSupplier ranks(int keys, Random random) {
            double[] sums = new double[keys];
            double sum = 0;
            for (int rank = 0; rank < keys; rank++) {
                sum += Math.pow(rank + 1, -0.99);
                sums[rank] = sum;
            }
            double all = sum;
            return () -> {
                int found = Arrays.binarySearch(sums, random.nextDouble() * all);
                return Math.min(found < 0 ? -found - 1 : found, keys - 1);
            };
        }
    };

    private static final int MOST = 1 << 24;

    abstract IntSupplier ranks(int keys, Random random);

    /** The sequence of keys: a power of two, two to four times as many as there are keys, at most 16 million. */
    int[] sequence(int keys) {
        Random random = new Random(1);
        int[] keyOfRank = shuffled(keys, random);
        IntSupplier ranks = ranks(keys, random);
        int[] sequence = new int[Math.min(MOST, Integer.highestOneBit(Math.max(keys, 1 << 14)) * 4)];
        for (int i = 0; i < sequence.length; i++) {
            sequence[i] = keyOfRank[ranks.getAsInt()];
        }
        return sequence;
    }

    /** Shuffles, so that frequently used keys are not adjacent in memory. */
    private static int[] shuffled(int keys, Random random) {
        int[] order = new int[keys];
        for (int i = 0; i < keys; i++) {
            int other = random.nextInt(i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        return order;
    }
}
