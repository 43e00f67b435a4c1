package dev.ratelimit.spring.rules.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.DoubleAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NumberTextTest {

    private static final String ZEROS = "0".repeat(1_000);

    /** A number that counts what takes more than a step per digit. */
    private static final class Watched extends BigDecimal {

        private static final long serialVersionUID = 1;

        private final transient AtomicInteger conversions = new AtomicInteger();

        Watched(String text) {
            super(text);
        }

        @Override
        public BigDecimal stripTrailingZeros() {
            conversions.incrementAndGet();
            return super.stripTrailingZeros();
        }

        @Override
        public double doubleValue() {
            conversions.incrementAndGet();
            return super.doubleValue();
        }

        @Override
        public String toString() {
            conversions.incrementAndGet();
            return super.toString();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "1.0", "1.00", "1e0", "10e-1", "0.1E+1", "+1", "01"})
    void of_anySpellingOfADecimal_isOneText(String written) {
        assertThat(NumberText.of(new BigDecimal(written))).isEqualTo("1");
    }

    @Test
    void of_equalNumbersOfAnyType_isOneText() {
        DoubleAdder sum = new DoubleAdder();
        sum.add(100);

        assertThat(List.<Number>of(
                        100,
                        100L,
                        (short) 100,
                        (byte) 100,
                        100.0,
                        100f,
                        sum,
                        new AtomicInteger(100),
                        new AtomicLong(100),
                        BigInteger.valueOf(100),
                        new BigDecimal("1e2"),
                        new BigDecimal("100.0")))
                .extracting(NumberText::of)
                .containsOnly("100");
    }

    @Test
    void of_zero_isOneText() {
        assertThat(List.<Number>of(0, 0.0, -0.0, -0f, new BigDecimal("0e9"), new BigDecimal("-0.00")))
                .extracting(NumberText::of)
                .containsOnly("0");
    }

    @ParameterizedTest
    @CsvSource({
        "0.10, 0.1",
        "12.50, 12.5",
        "-3.0, -3",
        "1e-7, 1E-7",
        "0.00000010, 1E-7",
        "1e999999999, 1E+999999999",
        "10e999999998, 1E+999999999",
        "10e-999999999, 1E-999999998"
    })
    void of_decimal_isTheShortestText(String written, String text) {
        assertThat(NumberText.of(new BigDecimal(written))).isEqualTo(text);
    }

    @Test
    void of_numberWithoutDigits_isItself() {
        assertThat(NumberText.of(Double.NaN)).isEqualTo("NaN");
        assertThat(NumberText.of(Float.NEGATIVE_INFINITY)).isEqualTo("-Infinity");
    }

    @Test
    void of_aThousandDigits_isTheNumber() {
        assertThat(NumberText.of(new BigDecimal("1." + ZEROS.substring(1)))).isEqualTo("1");
        assertThat(NumberText.of(new BigDecimal("1e999"))).isEqualTo(NumberText.of(BigInteger.TEN.pow(999)));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 20})
    void of_moreDigits_isOneText_withoutConvertingThem(int thousands) {
        Watched one = new Watched("1." + ZEROS.repeat(thousands));
        Watched other = new Watched("12" + ZEROS.repeat(thousands));

        assertThat(NumberText.of(one))
                .isEqualTo(NumberText.of(other))
                .isEqualTo(NumberText.of(other.toBigInteger()))
                .isEqualTo("more than 1000 digits");
        assertThat(one.conversions).hasValue(0);
    }

    /** Two numbers that are equal, though neither can be written with the other's exponent. */
    @Test
    void of_largestExponents_isOneText() {
        assertThat(NumberText.of(new BigDecimal(BigInteger.valueOf(100), Integer.MIN_VALUE + 1)))
                .isEqualTo(NumberText.of(new BigDecimal(BigInteger.TEN, Integer.MIN_VALUE)));
    }

    @Test
    void valueOf_isTheValue() {
        assertThat(NumberText.valueOf(new BigDecimal("2.50"))).isEqualTo(2.5);
        assertThat(NumberText.valueOf(new BigDecimal("1e400"))).isInfinite();
        assertThat(NumberText.valueOf(-7)).isEqualTo(-7);
    }

    @Test
    void valueOf_tooManyDigits_isInfinite_withoutConvertingThem() {
        Watched one = new Watched("1." + ZEROS.repeat(2));

        assertThat(NumberText.valueOf(one)).isEqualTo(Double.POSITIVE_INFINITY);
        assertThat(NumberText.valueOf(one.negate())).isEqualTo(Double.NEGATIVE_INFINITY);
        assertThat(one.conversions).hasValue(0);
    }
}
