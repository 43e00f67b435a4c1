package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Seeds;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RedisLimitTest {

    private static final long MAX = 1L << 51;

    /** The parameter with this number, as it marks values. */
    private static BigInteger parameter(RedisLimit limit, int number) {
        return new BigInteger(signature(limit).split(";", -1)[number]);
    }

    private static String signature(RedisLimit limit) {
        return new String(limit.signature(), StandardCharsets.US_ASCII);
    }

    /** The error of a permit's time relative to the rate, in parts of 10^9: negative if it is shorter. */
    private static BigInteger error(Limit limit) {
        RedisLimit written = RedisLimits.of(limit);
        BigInteger permits = BigInteger.valueOf(limit.rate().permits()).multiply(BigInteger.valueOf(1000));
        BigInteger period = BigInteger.valueOf(limit.rate().periodNanos());
        BigInteger given = parameter(written, 3).multiply(permits);
        BigInteger exact = parameter(written, 2).multiply(period);
        return given.subtract(exact).multiply(BigInteger.TEN.pow(9)).divide(exact);
    }

    @Test
    void penalty_notWholeMicroseconds_isRefused() {
        Policy policy = Policy.of("p", TokenBucket.of(Rate.parse("10/minute"))).withPenalty(Duration.ofNanos(1500));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisStore.check(policy.limits().get(0)))
                .withMessage("on Redis a penalty must be a whole number of microseconds but was PT0.0000015S");
    }

    @Test
    void tokenBucket_ticks_areExactWhereTheyFit() {
        RedisLimit limit = RedisLimits.of(TokenBucket.of(Rate.parse("3/second"), 7));

        assertThat(signature(limit)).isEqualTo("t;7000000;3;1000000;;");
    }

    @Test
    void tokenBucket_anyRate_isExactOrSlowerByLessThanOneInABillion() {
        long seed = Seeds.next();
        RandomLimits limits = new RandomLimits(new Random(seed));
        for (int i = 0; i < 300; i++) {
            Limit coarse = limits.coarse();
            assertThat(error(coarse)).as("%s, seed %s", coarse, seed).isBetween(BigInteger.ZERO, BigInteger.ONE);
            assertThat(parameter(RedisLimits.of(coarse), 1)).isLessThanOrEqualTo(BigInteger.valueOf(MAX));
        }
        for (int i = 0; i < 300; i++) {
            Limit limit = limits.any();
            if (limit instanceof TokenBucket && RandomLimits.ticksAreExact(limit)) {
                assertThat(error(limit)).as("%s, seed %s", limit, seed).isZero();
            }
        }
    }

    static Stream<Limit> largest() {
        Rate permits = Rate.of(MAX, Duration.ofHours(1));
        Rate window = Rate.of(1, Duration.ofNanos(MAX * 1000));
        return Stream.of(
                FixedWindow.of(permits),
                FixedWindow.of(window),
                SlidingWindow.of(permits),
                SlidingWindow.of(window),
                TokenBucket.of(permits, MAX, TokenBucket.Refill.INTERVAL),
                TokenBucket.of(Rate.parse("1/second"), 2_000_000_000),
                SlidingLog.of(Rate.of(10_000, Duration.ofNanos(MAX * 1000))));
    }

    @ParameterizedTest
    @MethodSource("largest")
    void check_largest_isTaken(Limit limit) {
        assertThatCode(() -> RedisStore.check(limit)).doesNotThrowAnyException();
    }

    static Stream<Limit> tooLarge() {
        Rate permits = Rate.of(MAX + 1, Duration.ofHours(1));
        Rate window = Rate.of(1, Duration.ofNanos((MAX + 1) * 1000));
        return Stream.of(
                FixedWindow.of(permits),
                FixedWindow.of(window),
                SlidingWindow.of(permits),
                SlidingWindow.of(window),
                TokenBucket.of(Rate.parse("1/hour"), 700_000, TokenBucket.Refill.INTERVAL));
    }

    @ParameterizedTest
    @MethodSource("tooLarge")
    void check_tooLarge_isRefusedWithTheBound(Limit limit) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisStore.check(limit))
                .withMessage(limit + " is too large for Redis: the maximum is " + MAX + " permits and " + MAX
                        + " microseconds");
    }

    static Stream<Limit> notWholeMicros() {
        Rate rate = Rate.of(5, Duration.ofNanos(1_000_001));
        return Stream.of(
                FixedWindow.of(rate),
                FixedWindow.onClock(rate, ZoneOffset.UTC),
                SlidingWindow.of(rate),
                TokenBucket.of(rate, 5, TokenBucket.Refill.INTERVAL),
                SlidingLog.of(rate));
    }

    @ParameterizedTest
    @MethodSource("notWholeMicros")
    void check_partsOfMicroseconds_areRefused(Limit limit) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisStore.check(limit))
                .withMessage(limit + ": on Redis a period must be a whole number of microseconds");
    }

    @Test
    void check_longLog_isRefusedWithAnAlternative() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisStore.check(SlidingLog.of(Rate.parse("10001/minute"))))
                .withMessageContaining("at most 10000 permits per window")
                .withMessageEndingWith("use algorithm sliding-window");
    }

    @Test
    void check_bucketThatDoublesCannotKeep_isRefused() {
        Limit limit = TokenBucket.of(Rate.of((1L << 25) + 1, Duration.ofDays(10)), 1L << 25);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisStore.check(limit))
                .withMessageStartingWith(limit + " cannot be represented on Redis: 51-bit numbers");
    }

    @Test
    void signature_differentLimits_differ() {
        Rate rate = Rate.parse("10/day");
        Stream<Limit> limits = Stream.of(
                TokenBucket.of(rate),
                TokenBucket.of(rate, 10, TokenBucket.Refill.INTERVAL),
                TokenBucket.of(rate, 11),
                FixedWindow.of(rate),
                FixedWindow.onClock(rate, ZoneOffset.UTC),
                FixedWindow.onClock(rate, ZoneId.of("Europe/Berlin")),
                FixedWindow.onClock(Rate.parse("10/month"), ZoneOffset.UTC),
                FixedWindow.onClock(Rate.parse("10/month"), ZoneId.of("Europe/Berlin")),
                SlidingWindow.of(rate),
                SlidingWindow.of(rate, SlidingWindow.Rounding.FLOOR),
                SlidingLog.of(rate));

        assertThat(limits.map(limit -> RedisLimits.of(limit).signature())).doesNotHaveDuplicates();
    }

    @Test
    void signature_eachKind_isLetterAndNumbers() {
        Rate rate = Rate.parse("10/day");
        Stream<Limit> limits = Stream.of(
                TokenBucket.of(rate, 20, TokenBucket.Refill.INTERVAL),
                FixedWindow.of(rate),
                FixedWindow.onClock(rate, ZoneOffset.UTC),
                FixedWindow.onClock(rate, ZoneId.of("Europe/Berlin")),
                FixedWindow.onClock(Rate.parse("10/month"), ZoneOffset.UTC),
                SlidingWindow.of(rate),
                SlidingWindow.of(rate, SlidingWindow.Rounding.FLOOR),
                SlidingLog.of(rate));

        assertThat(limits.map(limit -> signature(RedisLimits.of(limit))))
                .containsExactly(
                        "i;20;10;86400000000;;",
                        "f;10;86400000000;0;;",
                        "f;10;86400000000;1;;",
                        "f;10;90000000000;2;Europe/Berlin PT24H;",
                        "f;10;2678400000000;2;Z P1M;",
                        "s;10;86400000000;0;;",
                        "s;10;86400000000;1;;",
                        "l;10;86400000000;0;;");
    }

    @Test
    void algorithm_isTheOneWhoseLetterTheSignatureHas() {
        RedisLimit limit = RedisLimits.of(SlidingLog.of(Rate.parse("10/day")));

        assertThat(limit.algorithm()).isEqualTo(Script.Algorithm.SLIDING_LOG);
    }
}
