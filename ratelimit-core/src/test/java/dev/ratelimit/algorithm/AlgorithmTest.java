package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow.Align;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class AlgorithmTest {

    private static final Rate RATE = Rate.parse("10/second");
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final LimitOptions EVERY_OPTION = LimitOptions.NONE
            .with("burst", 20L)
            .with("refill", Refill.CONTINUOUS)
            .with("align", Align.CLOCK)
            .with("zone", BERLIN)
            .with("rounding", Rounding.EXACT);

    @ParameterizedTest
    @CsvSource({
        "token-bucket, TOKEN_BUCKET",
        "fixed-window, FIXED_WINDOW",
        "sliding-window, SLIDING_WINDOW",
        "sliding-log, SLIDING_LOG"
    })
    void named_configurationName_isFound(String name, Algorithm algorithm) {
        assertThat(Algorithm.named(name)).isEqualTo(algorithm);
        assertThat(algorithm).hasToString(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "TOKEN_BUCKET", "tokenbucket", "token-bucket "})
    void named_unknown_listsThoseThereAre(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Algorithm.named(name))
                .withMessage("unknown algorithm '" + name
                        + "'; write token-bucket, fixed-window, sliding-window, sliding-log or concurrency");
    }

    @Test
    void named_leakyBucket_saysWhatItIsHere() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Algorithm.named("leaky-bucket"))
                .withMessageEndingWith(" or concurrency (a leaky bucket is called token-bucket)");
    }

    @Test
    void limit_nothingSaid_isTheAlgorithmsDefault() {
        assertThat(Algorithm.TOKEN_BUCKET.limit(RATE, LimitOptions.NONE)).isEqualTo(TokenBucket.of(RATE));
        assertThat(Algorithm.FIXED_WINDOW.limit(RATE, LimitOptions.NONE)).isEqualTo(FixedWindow.of(RATE));
        assertThat(Algorithm.SLIDING_WINDOW.limit(RATE, LimitOptions.NONE)).isEqualTo(SlidingWindow.of(RATE));
        assertThat(Algorithm.SLIDING_LOG.limit(RATE, LimitOptions.NONE)).isEqualTo(SlidingLog.of(RATE));
    }

    @Test
    void limit_tokenBucketOptions_areUsed() {
        LimitOptions burst = LimitOptions.NONE.with("burst", 20L);
        LimitOptions interval = LimitOptions.NONE.with("burst", 20L).with("refill", Refill.INTERVAL);

        assertThat(Algorithm.TOKEN_BUCKET.limit(RATE, burst)).isEqualTo(TokenBucket.of(RATE, 20));
        assertThat(Algorithm.TOKEN_BUCKET.limit(RATE, interval))
                .isEqualTo(TokenBucket.of(RATE, 20, Refill.INTERVAL))
                .isNotEqualTo(TokenBucket.of(RATE, 20));
    }

    @Test
    void limit_windowOptions_areUsed() {
        LimitOptions firstHit = LimitOptions.NONE.with("align", Align.FIRST_HIT);
        LimitOptions clock = LimitOptions.NONE.with("align", Align.CLOCK);
        LimitOptions berlin = LimitOptions.NONE.with("align", Align.CLOCK).with("zone", BERLIN);
        LimitOptions floor = LimitOptions.NONE.with("rounding", Rounding.FLOOR);
        Rate daily = Rate.parse("10/day");

        assertThat(Algorithm.FIXED_WINDOW.limit(daily, firstHit)).isEqualTo(FixedWindow.of(daily));
        assertThat(Algorithm.FIXED_WINDOW.limit(daily, clock)).isEqualTo(FixedWindow.onClock(daily, ZoneOffset.UTC));
        assertThat(Algorithm.FIXED_WINDOW.limit(daily, berlin)).isEqualTo(FixedWindow.onClock(daily, BERLIN));
        assertThat(Algorithm.SLIDING_WINDOW.limit(RATE, floor)).isEqualTo(SlidingWindow.of(RATE, Rounding.FLOOR));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "TOKEN_BUCKET|align is not an option of token-bucket, which has burst and refill; write algorithm: fixed-window, or remove it",
                "FIXED_WINDOW|burst is not an option of fixed-window, which has align and zone; write algorithm: token-bucket, or remove it",
                "SLIDING_WINDOW|burst is not an option of sliding-window, which has rounding; write algorithm: token-bucket, or remove it",
                "SLIDING_LOG|burst is not an option of sliding-log, which has none; write algorithm: token-bucket, or remove it"
            })
    void limit_foreignOption_isRefused(Algorithm algorithm, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> algorithm.limit(RATE, EVERY_OPTION))
                .withMessage(message);
    }

    @Test
    void limit_zone_belongsToWindowsThatFollowTheClock() {
        LimitOptions zone = LimitOptions.NONE.with("zone", BERLIN);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> Algorithm.TOKEN_BUCKET.limit(RATE, zone))
                .withMessageEndingWith("write algorithm: fixed-window and align: clock, or remove it");
    }

    @Test
    void limit_unknownOption_isRefused() {
        LimitOptions colour = LimitOptions.NONE.with("colour", "red");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> Algorithm.SLIDING_LOG.limit(RATE, colour))
                .withMessage("colour is not an option of sliding-log, which has none; remove it");
    }

    @Test
    void limit_zoneWithoutClock_isRefused() {
        LimitOptions zone = LimitOptions.NONE.with("zone", BERLIN);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> Algorithm.FIXED_WINDOW.limit(RATE, zone))
                .withMessage("zone needs align: clock");
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void limit_month_needsClock(Algorithm algorithm) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> algorithm.limit(Rate.parse("10/month"), LimitOptions.NONE))
                .withMessageContaining("10/month")
                .withMessageContaining("align: clock");
    }

    @ParameterizedTest
    @EnumSource(value = Algorithm.class, names = "CONCURRENCY", mode = EnumSource.Mode.EXCLUDE)
    void limit_equalParameters_isEqual(Algorithm algorithm) {
        Limit limit = algorithm.limit(RATE, LimitOptions.NONE);
        Limit same = algorithm.limit(Rate.parse("10/1000ms"), LimitOptions.NONE);
        Limit other = algorithm.limit(Rate.parse("11/second"), LimitOptions.NONE);

        assertThat(limit)
                .isEqualTo(same)
                .hasSameHashCodeAs(same)
                .isNotEqualTo(other)
                .hasToString("10/second (" + algorithm + ")");
    }

    static Stream<Arguments> options() {
        return Stream.of(
                Arguments.of(Algorithm.SLIDING_LOG, LimitOptions.NONE.with("burst", 20L), "burst"),
                Arguments.of(Algorithm.SLIDING_LOG, LimitOptions.NONE.with("refill", Refill.INTERVAL), "refill"),
                Arguments.of(Algorithm.TOKEN_BUCKET, LimitOptions.NONE.with("align", Align.CLOCK), "align"),
                Arguments.of(Algorithm.TOKEN_BUCKET, LimitOptions.NONE.with("zone", BERLIN), "zone"),
                Arguments.of(Algorithm.TOKEN_BUCKET, LimitOptions.NONE.with("rounding", Rounding.FLOOR), "rounding"));
    }

    @ParameterizedTest
    @MethodSource("options")
    void foreignOption_anyOption_isNamed(Algorithm algorithm, LimitOptions options, String name) {
        assertThat(algorithm.foreignOption(options)).isEqualTo(name);
    }

    @Test
    void hashCode_otherParameters_isMostlyAnother() {
        List<? extends Limit> limits = Stream.of("10/second", "11/second", "10/minute")
                .map(Rate::parse)
                .flatMap(rate -> Stream.of(
                        TokenBucket.of(rate),
                        TokenBucket.of(rate, 12),
                        TokenBucket.of(rate, 12, Refill.INTERVAL),
                        FixedWindow.of(rate),
                        FixedWindow.onClock(rate, ZoneOffset.UTC),
                        SlidingWindow.of(rate),
                        SlidingLog.of(rate)))
                .toList();

        Map<Class<?>, Set<Integer>> hashes = limits.stream()
                .collect(Collectors.groupingBy(
                        Limit::getClass, Collectors.mapping(Limit::hashCode, Collectors.toSet())));
        assertThat(hashes)
                .hasSize(5)
                .allSatisfy((kind, ofKind) -> assertThat(ofKind).hasSizeGreaterThan(2));
        assertThat(limits).doesNotHaveDuplicates();
    }

    @Test
    void replenishNanos_windows_isTheWindow() {
        long second = 1_000_000_000;

        assertThat(FixedWindow.of(RATE).replenishNanos()).isEqualTo(second);
        assertThat(FixedWindow.onClock(RATE, BERLIN).replenishNanos()).isEqualTo(second);
        assertThat(SlidingWindow.of(RATE).replenishNanos()).isEqualTo(second);
        assertThat(SlidingLog.of(RATE).replenishNanos()).isEqualTo(second);
        assertThat(TokenBucket.of(RATE, 25, Refill.INTERVAL).replenishNanos()).isEqualTo(3 * second);
    }

    @Test
    void grows_onlyTheLog() {
        assertThat(SlidingLog.of(RATE).grows()).isTrue();
        assertThat(SlidingWindow.of(RATE).grows()).isFalse();
    }
}
