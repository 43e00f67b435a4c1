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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class AlgorithmTest {

    private static final Rate RATE = Rate.parse("10/second");
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final LimitOptions EVERY_OPTION =
            new LimitOptions(20L, Refill.CONTINUOUS, Align.CLOCK, BERLIN, Rounding.EXACT);

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
    @ValueSource(strings = {"", "TOKEN_BUCKET", "tokenbucket", "leaky-bucket", "token-bucket "})
    void named_unknown_listsThoseThereAre(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Algorithm.named(name))
                .withMessageStartingWith(
                        "algorithm must be one of token-bucket, fixed-window, sliding-window, sliding-log");
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
        LimitOptions burst = new LimitOptions(20L, null, null, null, null);
        LimitOptions interval = new LimitOptions(20L, Refill.INTERVAL, null, null, null);

        assertThat(Algorithm.TOKEN_BUCKET.limit(RATE, burst)).isEqualTo(TokenBucket.of(RATE, 20));
        assertThat(Algorithm.TOKEN_BUCKET.limit(RATE, interval))
                .isEqualTo(TokenBucket.of(RATE, 20, Refill.INTERVAL))
                .isNotEqualTo(TokenBucket.of(RATE, 20));
    }

    @Test
    void limit_windowOptions_areUsed() {
        LimitOptions firstHit = new LimitOptions(null, null, Align.FIRST_HIT, null, null);
        LimitOptions clock = new LimitOptions(null, null, Align.CLOCK, null, null);
        LimitOptions berlin = new LimitOptions(null, null, Align.CLOCK, BERLIN, null);
        LimitOptions floor = new LimitOptions(null, null, null, null, Rounding.FLOOR);
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
                "TOKEN_BUCKET|align is no option of token-bucket, which has burst and refill",
                "FIXED_WINDOW|burst is no option of fixed-window, which has align and zone",
                "SLIDING_WINDOW|burst is no option of sliding-window, which has rounding",
                "SLIDING_LOG|burst is no option of sliding-log, which has none"
            })
    void limit_foreignOption_isRefused(Algorithm algorithm, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> algorithm.limit(RATE, EVERY_OPTION))
                .withMessage(message);
    }

    @Test
    void limit_zoneWithoutClock_isRefused() {
        LimitOptions zone = new LimitOptions(null, null, null, BERLIN, null);

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
    @EnumSource(Algorithm.class)
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
}
