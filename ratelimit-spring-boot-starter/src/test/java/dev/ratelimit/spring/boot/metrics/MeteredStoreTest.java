package dev.ratelimit.spring.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class MeteredStoreTest {

    private static final Policy POLICY = Policy.of("api", FixedWindow.of(Rate.parse("10/day")));

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    private Timer decisions() {
        return registry.get("ratelimit.decision").timer();
    }

    @Test
    void asynchronousCalls_areAnsweredAndMeasuredAsTheOthers() {
        MeteredStore store = new MeteredStore(InMemoryStore.create(), RateLimitProperties.Store.Type.MEMORY, registry);

        CompletableFuture<Decision> decided =
                store.decideAsync(List.of(POLICY.charge("k", 4))).toCompletableFuture();
        CompletionStage<Decision> peeked = store.peekAsync(List.of(POLICY.charge("k")));

        assertThat(decided).isDone();
        assertThat(peeked.toCompletableFuture().join().limits().get(0).remaining())
                .isEqualTo(6);
        assertThat(store.refundAsync(decided.join()).toCompletableFuture()).isCompleted();
        assertThat(store.peek(List.of(POLICY.charge("k"))).limits().get(0).remaining())
                .isEqualTo(10);
        assertThat(decisions().count()).isEqualTo(1);
    }

    @Test
    void decideAsync_cancelled_reachesTheStoreAndIsMeasured() {
        CompletableFuture<Decision> pending = new CompletableFuture<>();
        MeteredStore store = new MeteredStore(
                new ForwardingStore(InMemoryStore.create()) {
                    @Override
                    public CompletionStage<Decision> decideAsync(List<Charge> charges) {
                        return pending;
                    }
                },
                RateLimitProperties.Store.Type.MEMORY,
                registry);

        CompletableFuture<Decision> decided = store.decideAsync(List.of()).toCompletableFuture();
        assertThat(decisions().count()).isZero();
        decided.cancel(false);

        assertThat(pending).isCancelled();
        assertThat(decisions().count()).isEqualTo(1);
    }
}
