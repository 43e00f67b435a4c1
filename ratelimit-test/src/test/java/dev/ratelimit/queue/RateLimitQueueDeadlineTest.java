package dev.ratelimit.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
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

    /** Two permits ahead of the third make its wait longer than it may be. */
    @Test
    void joinsWhileAnotherCounts_areCountedToo() {
        Policy one = Policy.of("one", TokenBucket.of(Rate.parse("1/second")));
        List<Runnable> meanwhile = new ArrayList<>();
        RateLimitStore joining = new ForwardingStore(store) {
            @Override
            public Decision peek(List<Charge> charges) {
                Decision answer = super.peek(charges);
                if (!meanwhile.isEmpty()) {
                    meanwhile.remove(0).run();
                }
                return answer;
            }
        };
        RateLimitQueue queue = RateLimitQueue.builder(joining)
                .ticker(ticker)
                .policy("one", Waiting.of(Duration.ofSeconds(2), 10))
                .build();
        List<CompletableFuture<Decision>> overtaking = new ArrayList<>();
        // the second question is about the permits of those ahead
        meanwhile.add(() -> {});
        meanwhile.add(() -> overtaking.add(queue.acquire(one.charge("k"))));
        assertThat(queue.acquire(one.charge("k"))).isCompleted();
        CompletableFuture<Decision> first = queue.acquire(one.charge("k"));

        CompletableFuture<Decision> last = queue.acquire(one.charge("k"));

        assertThat(first).isNotDone();
        assertThat(overtaking)
                .singleElement()
                .satisfies(caller -> assertThat(caller).isNotDone());
        assertThat(last).isCompletedWithValueMatching(decision -> !decision.admitted());
        queue.close();
    }
}
