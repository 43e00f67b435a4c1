package dev.ratelimit.spring.rules.text;

import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * The text of a number in a key: the same for equal numbers of any type, however they were written. {@code 1},
 * {@code 1.0}, {@code 1e0} and {@code 10e-1} are {@code 1}.
 */
public final class NumberText {

    /**
     * The bits of 1,000 digits, which is also the most that Jackson reads. The conversions here take the square of the
     * number of digits.
     */
    private static final int MAX_BITS = 3_322;

    /** How many zeros are written at the end of a whole number. */
    private static final int MAX_ZEROS = 1_000;

    /** Of all numbers with more digits, which share one budget, so that nobody gets another one by writing zeros. */
    private static final String LONG = "more than 1000 digits";

    private NumberText() {}

    /** The text of a number. A number of an unknown type has its own text, unless that is a decimal number. */
    public static String of(Number number) {
        if (number instanceof Long || number instanceof Integer) {
            return number.toString();
        }
        if (number instanceof BigDecimal decimal) {
            return of(decimal);
        }
        if (number instanceof BigInteger whole) {
            return of(new BigDecimal(whole));
        }
        String text = number.toString();
        try {
            return text.length() > MAX_ZEROS ? text : of(new BigDecimal(text));
        } catch (NumberFormatException notDecimal) {
            return text;
        }
    }

    private static String of(BigDecimal number) {
        if (isLong(number)) {
            return LONG;
        }
        try {
            BigDecimal shortest = number.stripTrailingZeros();
            return shortest.scale() <= 0 && shortest.scale() >= -MAX_ZEROS
                    ? shortest.toPlainString()
                    : shortest.toString();
        } catch (ArithmeticException exponentTooLarge) {
            return LONG;
        }
    }

    private static boolean isLong(BigDecimal number) {
        return number.unscaledValue().bitLength() > MAX_BITS;
    }

    /** Whether it has more than 1,000 digits, before or after the point, if it is written without an exponent. */
    static boolean isTooLong(BigDecimal number) {
        return isLong(number) || Math.abs((long) number.scale()) > MAX_ZEROS;
    }

    /** Its value, rounded; infinite for a number whose digits are too many to be read. */
    public static double valueOf(Number number) {
        return number instanceof BigDecimal decimal && isLong(decimal)
                ? decimal.signum() * Double.POSITIVE_INFINITY
                : number.doubleValue();
    }
}
