package dev.ratelimit.simulator.suggest;

/** Numbers as people write them into configurations: 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20 and so on. */
final class NiceNumber {

    private static final long[] STEPS = {10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100};

    private NiceNumber() {}

    /** The smallest one that is not less; at least 1. */
    static long atLeast(double value) {
        if (value <= 10) {
            long whole = (long) Math.ceil(value);
            return Math.max(1, whole == 7 ? 8 : whole == 9 ? 10 : whole);
        }
        double unit = 1;
        while (value / unit > 100) {
            unit *= 10;
        }
        for (long step : STEPS) {
            if (step * unit >= value) {
                return (long) (step * unit);
            }
        }
        throw new AssertionError(value);
    }
}
