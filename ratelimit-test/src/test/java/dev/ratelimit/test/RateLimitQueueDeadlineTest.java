package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitQueue;
import dev.ratelimit.RateLimitQueue.Waiting;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What happens at the end of the longest wait. */
class RateLimitQueueDeadlineTest {

    private final FakeTicker ticker = new FakeTicker();
    private final InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();

    @Test
    void store_isAskedOnceMore_notUntilTheToleranceIsOver() {
        Policy slots = Policy.of("slots", Concurrency.of(1));
        List<Charge> charges = List.of(slots.charge());
        AtomicInteger tries = new AtomicInteger();
        try (RateLimitQueue queue = RateLimitQueue.builder(store)
                .ticker(ticker)
                .policy("slots", Waiting.of(Duration.ofMillis(500), 10))
                .build()) {
            store.decide(charges);
            CompletableFuture<Decision> waiting = queue.acquire(charges, () -> {
                assertThat(tries.incrementAndGet()).isLessThanOrEqualTo(2);
                return store.decide(charges);
            });

            ticker.advance(Duration.ofSeconds(1));

            assertThat(waiting).isCompletedWithValueMatching(decision -> !decision.admitted());
            assertThat(tries).hasValue(2);
        }
    }
}
