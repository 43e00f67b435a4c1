package dev.ratelimit.spring.rules.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Several counters as one. */
class OutcomeCounterTest {

    private final OutcomeCounter counter = (policy, key, outcome, request) -> {};

    private final OutcomeCounter byEndpoint = new OutcomeCounter() {
        @Override
        public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {}

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
