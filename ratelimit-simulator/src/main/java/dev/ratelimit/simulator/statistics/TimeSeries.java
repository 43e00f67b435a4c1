package dev.ratelimit.simulator.statistics;

import java.util.Arrays;

/**
 * Counts over time, in intervals of equal length. The intervals are short at first, and double whenever there are too
 * many. Not thread-safe.
 */
public final class TimeSeries {

    private static final int MAX = 1_024;
    private static final long SECOND = 1_000_000_000L;

    private long[] admitted = new long[MAX];
    private long[] refused = new long[MAX];
    private long width = SECOND;
    private long start = Long.MIN_VALUE;
    private int size;

    void add(long nanos, boolean asRefused) {
        if (start == Long.MIN_VALUE) {
            start = Math.floorDiv(nanos, SECOND) * SECOND;
        }
        while ((nanos - start) / width >= MAX) {
            admitted = merged(admitted);
            refused = merged(refused);
            size = (size + 1) / 2;
            width *= 2;
        }
        int at = (int) Math.max(0, (nanos - start) / width);
        (asRefused ? refused : admitted)[at]++;
        size = Math.max(size, at + 1);
    }

    private static long[] merged(long[] counts) {
        long[] half = new long[MAX];
        for (int i = 0; i < MAX; i += 2) {
            half[i / 2] = counts[i] + counts[i + 1];
        }
        return half;
    }

    /** When the first interval begins, in seconds since the epoch. */
    public long startSeconds() {
        return start == Long.MIN_VALUE ? 0 : Math.floorDiv(start, SECOND);
    }

    /** The length of each interval. */
    public long widthSeconds() {
        return width / SECOND;
    }

    /** How many requests were admitted in each interval. */
    public long[] admitted() {
        return Arrays.copyOf(admitted, size);
    }

    /** How many requests were refused in each interval. */
    public long[] refused() {
        return Arrays.copyOf(refused, size);
    }
}
