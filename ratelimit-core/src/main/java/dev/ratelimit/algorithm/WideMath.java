package dev.ratelimit.algorithm;

import java.math.BigInteger;

/** Products of non-negative longs that may not fit in one, exact. */
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
        // the low 64 bits tell equality: floor * divisor differs from a * b by less than divisor
        return floor * divisor == a * b ? floor : floor + 1;
    }

    /** {@code a / b}, rounded up, for {@code a >= 0} and {@code b > 0}. */
    static long ceilDiv(long a, long b) {
        return a / b + (a % b == 0 ? 0 : 1);
    }
}
