package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ratelimit.Seeds;
import java.math.BigInteger;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WideMathTest {

    private static final int ROUNDS = 100_000;
    private static final BigInteger MAX = BigInteger.valueOf(Long.MAX_VALUE);

    @Test
    void productAtMost_anyFactors_agreesWithBigInteger() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        for (int i = 0; i < ROUNDS; i++) {
            long a = anyLong(random);
            long b = anyLong(random);
            long c = random.nextInt(4) == 0 ? b : anyLong(random);
            long d = random.nextInt(4) == 0 ? a : anyLong(random);

            assertThat(WideMath.productAtMost(a, b, c, d))
                    .as("%s * %s <= %s * %s, seed %s", a, b, c, d, seed)
                    .isEqualTo(product(a, b).compareTo(product(c, d)) <= 0);
        }
    }

    @Test
    void mulDiv_anyFactors_agreesWithBigInteger() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        for (int i = 0; i < ROUNDS; i++) {
            long a = anyLong(random);
            long b = anyLong(random);
            long divisor = Math.max(1, random.nextInt(4) == 0 ? a : anyLong(random));
            BigInteger[] quotient = product(a, b).divideAndRemainder(BigInteger.valueOf(divisor));
            if (quotient[0].compareTo(MAX) < 0) {
                long floor = quotient[0].longValueExact();

                assertThat(WideMath.mulDivFloor(a, b, divisor))
                        .as("%s * %s / %s, seed %s", a, b, divisor, seed)
                        .isEqualTo(floor);
                assertThat(WideMath.mulDivCeil(a, b, divisor))
                        .as("%s * %s / %s, seed %s", a, b, divisor, seed)
                        .isEqualTo(floor + quotient[1].signum());
            }
        }
    }

    @Test
    void mulDivFloor_tooMuchForALong_throws() {
        assertThatExceptionOfType(ArithmeticException.class)
                .isThrownBy(() -> WideMath.mulDivFloor(Long.MAX_VALUE, Long.MAX_VALUE, 2));
    }

    @Test
    void ceilDiv_anyNumbers_agreesWithBigInteger() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        for (int i = 0; i < ROUNDS; i++) {
            long a = anyLong(random);
            long b = Math.max(1, anyLong(random));
            BigInteger[] quotient = BigInteger.valueOf(a).divideAndRemainder(BigInteger.valueOf(b));

            assertThat(WideMath.ceilDiv(a, b))
                    .as("%s / %s, seed %s", a, b, seed)
                    .isEqualTo(quotient[0].longValueExact() + quotient[1].signum());
        }
    }

    /** Numbers of any length in bits, so that small, large and maximum values occur. */
    private static long anyLong(Random random) {
        long bits = random.nextLong() >>> (1 + random.nextInt(63));
        return random.nextInt(16) == 0 ? Long.MAX_VALUE : bits;
    }

    private static BigInteger product(long a, long b) {
        return BigInteger.valueOf(a).multiply(BigInteger.valueOf(b));
    }
}
