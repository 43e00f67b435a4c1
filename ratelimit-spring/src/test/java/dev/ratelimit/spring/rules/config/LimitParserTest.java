package dev.ratelimit.spring.rules.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LimitOptions;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LimitParserTest {

    private static LimitParser parser(Algorithm algorithm, @Nullable Long burst) {
        return new LimitParser(
                algorithm, LimitOptions.NONE.with("burst", burst), Concurrency.DEFAULT_MAX_HOLD, limit -> {
                    if (limit.capacity() > 1_000) {
                        throw new IllegalArgumentException("the store cannot keep " + limit.capacity());
                    }
                });
    }

    private final LimitParser buckets = parser(Algorithm.TOKEN_BUCKET, null);

    @Test
    void parse_severalLimits_areAllOfTheAlgorithm() {
        assertThat(parser(Algorithm.FIXED_WINDOW, null).parse("10/second; 100/minute"))
                .containsExactly(FixedWindow.of(Rate.parse("10/second")), FixedWindow.of(Rate.parse("100/minute")));
    }

    @Test
    void parse_burst_isTheCapacityOfTheOnlyLimit() {
        LimitParser burst = parser(Algorithm.TOKEN_BUCKET, 20L);

        assertThat(burst.parse("10/second")).containsExactly(TokenBucket.of(Rate.parse("10/second"), 20));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> burst.parse("10/second; 100/minute"))
                .withMessage("burst needs a single limit, but there are 2");
    }

    @Test
    void parse_whatTheStoreCannotKeep_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> buckets.parse("10/second; 1001/minute"))
                .withMessage("the store cannot keep 1001");
    }

    @Test
    void allowance_isWordsOrLimitsWithABurstOfTheirOwn() {
        assertThat(buckets.override("p", " unlimited ")).isEqualTo(LimitOverride.Fixed.UNLIMITED);
        assertThat(buckets.override("p", "blocked")).isEqualTo(LimitOverride.Fixed.BLOCKED);
        assertThat(buckets.with("burst", 20L).override("p", "10/second"))
                .isEqualTo(new LimitOverride.Limited(Policy.of("p", TokenBucket.of(Rate.parse("10/second"), 20))));
        assertThat(parser(Algorithm.TOKEN_BUCKET, 20L).with("burst", null).override("p", "10/second"))
                .isEqualTo(new LimitOverride.Limited(Policy.of("p", TokenBucket.of(Rate.parse("10/second")))));
    }

    @Test
    void checkPermits_areFromNoneToTheLeastCapacity() {
        Policy policy = Policy.of("p", TokenBucket.of(Rate.parse("10/second")), TokenBucket.of(Rate.parse("5/minute")));

        assertThatCode(() -> LimitParser.checkPermits(0, policy)).doesNotThrowAnyException();
        assertThatCode(() -> LimitParser.checkPermits(5, policy)).doesNotThrowAnyException();
        for (long permits : new long[] {-1, 6}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> LimitParser.checkPermits(permits, policy))
                    .withMessageStartingWith("permits must be from 0 to 5, ")
                    .withMessageContaining("but was " + permits);
        }
    }
}
