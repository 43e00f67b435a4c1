package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an algorithm need not write itself. */
class LimitAlgorithmTest {

    private final FakeTicker ticker = new FakeTicker();
    private final RateLimitStore store = InMemoryStore.builder().ticker(ticker).build();
    private final Policy policy = Policy.of("peak", new PeakRate(1_000));

    @Test
    void tryCharge_notOverridden_admitsAndCharges() {
        assertThat(store.tryCharge(policy, "a", 1)).isTrue();
        assertThat(store.tryCharge(policy, "a", 1)).isFalse();
        assertThat(store.tryCharge(List.of(policy.charge("a", 1), policy.charge("b", 1))))
                .isFalse();
        assertThat(store.tryCharge(policy, "b", 1)).isTrue();

        ticker.advance(Duration.ofNanos(1_000));

        assertThat(store.decide(List.of(policy.charge("a", 1))).admitted()).isTrue();
        assertThat(store.tryCharge(policy, "a", 1)).isFalse();
    }
}
