package dev.ratelimit.algorithm;

import java.math.BigInteger;

/** Exact products of non-negative longs that may not fit in a long. */
final class WideMath {

    private WideMath() {}

    /** Whether {@code a * b <= c * d}, without allocation. */
    static boolean productAtMost(long a, long b, long c, long d) {
        long high = Math.multiplyHigh(a, b);
        long otherHigh = Math.multiplyHigh(c, d);
        return high != otherHigh ? high < otherHigh : Long.compareUnsigned(a * b, c * d) <= 0;
    }

    /** {@code a * b / divisor}, rounded down; the result must fit in a long. */
    static long mulDivFloor(long a, long b, long divisor) {
        long product = a * b;
        if (product >= 0 && Math.multiplyHigh(a, b) == 0) {
            return product / divisor;
        }
        return BigInteger.valueOf(a)
                .multiply(BigInteger.valueOf(b))
                .divide(BigInteger.valueOf(divisor))
                .longValueExact();
    }

    /** {@code a * b / divisor}, rounded up; the result must fit in a long. */
    static long mulDivCeil(long a, long b, long divisor) {
        long floor = mulDivFloor(a, b, divisor);
        // the low 64 bits are enough to compare: floor * divisor differs from a * b by less than divisor
        return floor * divisor == a * b ? floor : floor + 1;
    }

    /**
     * Converts {@code part} of {@code former} to the same share of {@code whole}: rounded up if that is less and down
     * if it is more, so that it does not change while two limits take turns.
     */
    static long share(long part, long whole, long former) {
        return whole > former ? mulDivFloor(part, whole, former) : mulDivCeil(part, whole, former);
    }

    /** {@code a / b}, rounded up, for {@code a >= 0} and {@code b > 0}. */
    static long ceilDiv(long a, long b) {
        // as by almost every rate's ticks; some processors take 20 ns for a division
        if (b == 1) {
            return a;
        }
        return a / b + (a % b == 0 ? 0 : 1);
    }
}
