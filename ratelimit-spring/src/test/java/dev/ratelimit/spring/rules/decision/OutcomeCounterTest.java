package dev.ratelimit.spring.rules.decision;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Several counters as one. */
class OutcomeCounterTest {

    private final OutcomeCounter counter = (policy, outcome) -> {};

    private final OutcomeCounter byEndpoint = new OutcomeCounter() {
        @Override
        public void count(String policy, Outcome outcome) {}

        @Override
        public boolean readsEndpoints() {
            return true;
        }
    };

    @Test
    void of_counters_leavesOutThoseThatCountNothing() {
        assertThat(OutcomeCounter.of(List.of(OutcomeCounter.NONE, counter, OutcomeCounter.NONE)))
                .isSameAs(counter);
    }

    @Test
    void readsEndpoints_ifOneOfThemDoes() {
        assertThat(OutcomeCounter.of(List.of(counter, counter)).readsEndpoints())
                .isFalse();
        assertThat(OutcomeCounter.of(List.of(counter, byEndpoint)).readsEndpoints())
                .isTrue();
    }
}
