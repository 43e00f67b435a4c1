package dev.ratelimit.spring.rules.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.memory.InMemoryStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RefundingStoreTest {

    private static final Policy POLICY = Policy.of("api", FixedWindow.of(Rate.parse("10/day")));

    /** A store whose refunds fail. */
    private static RateLimitStore failingWith(Throwable failure) {
        return new ForwardingStore(InMemoryStore.create()) {
            @Override
            public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
                return CompletableFuture.failedFuture(failure);
            }
        };
    }

    private final List<Charge> told = new ArrayList<>();

    private final RefundingStore store = new RefundingStore(InMemoryStore.create(), told::addAll);

    @Test
    void asynchronousCalls_areAnsweredAtOnceAndTellWhatWasRefunded() {
        List<Charge> charges = List.of(POLICY.charge("k", 4));

        CompletableFuture<Decision> decided = store.decideAsync(charges).toCompletableFuture();
        assertThat(decided).isDone();
        assertThat(store.refundAsync(decided.join()).toCompletableFuture()).isCompleted();

        assertThat(told).isEqualTo(charges);
        assertThat(store.peekAsync(List.of(POLICY.charge("k", 10))).toCompletableFuture())
                .isCompletedWithValueMatching(Decision::admitted);
    }

    @Test
    void refundAsync_fails_isAnsweredAsIfItHadNot() {
        RefundingStore failing = new RefundingStore(failingWith(new IllegalStateException()), told::addAll);
        RefundingStore broken = new RefundingStore(failingWith(new StackOverflowError()), told::addAll);
        Decision decision = store.decide(List.of(POLICY.charge("k")));

        assertThat(failing.refundAsync(decision).toCompletableFuture()).isCompleted();
        assertThatThrownBy(
                        () -> broken.refundAsync(decision).toCompletableFuture().join())
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(StackOverflowError.class);

        assertThat(told).isEmpty();
    }
}
