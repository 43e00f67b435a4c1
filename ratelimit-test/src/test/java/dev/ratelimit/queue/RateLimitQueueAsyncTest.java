package dev.ratelimit.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Callers whose thread must not wait for the store. */
class RateLimitQueueAsyncTest {

    private static final Policy POLICY = Policy.of("api", FixedWindow.of(Rate.parse("2/second")));

    private final FakeTicker ticker = new FakeTicker();
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private Executor blocking = tasks::add;
    private Runnable whenAsked = () -> {};
    private int asked;

    private final RateLimitStore store =
            new ForwardingStore(InMemoryStore.builder().ticker(ticker).build()) {
                @Override
                public Decision decide(List<Charge> charges) {
                    asked++;
                    Decision decision = super.decide(charges);
                    whenAsked.run();
                    return decision;
                }
            };

    private final RateLimitQueue queue = RateLimitQueue.builder(store)
            .policy("api", Waiting.of(Duration.ofSeconds(5), 10))
            .ticker(ticker)
            .scheduler(new Scheduler() {
                @Override
                public Alarm schedule(Runnable task, long delayNanos) {
                    return ticker.schedule(task, delayNanos);
                }

                @Override
                public Executor blockingExecutor() {
                    return task -> blocking.execute(task);
                }
            })
            .build();

    private CompletableFuture<Decision> ask(long permits) {
        return queue.acquireAsync(POLICY.charge("k", permits));
    }

    private long left() {
        return store.peek(List.of(POLICY.charge("k", 0))).limits().get(0).remaining();
    }

    @Test
    void acquireAsync_returnsBeforeTheStoreIsAsked() {
        CompletableFuture<Decision> first = ask(2);
        CompletableFuture<Decision> second = ask(1);
        assertThat(asked).isZero();

        tasks.forEach(Runnable::run);

        assertThat(first).isCompletedWithValueMatching(Decision::admitted);
        assertThat(queue.waiting("api")).isEqualTo(1);
        ticker.advance(Duration.ofSeconds(1));
        assertThat(second).isCompletedWithValueMatching(Decision::admitted);
    }

    @Test
    void acquireAsync_cancelledBeforeTheStoreIsAsked_asksNever() {
        ask(1).cancel(false);

        tasks.forEach(Runnable::run);

        assertThat(asked).isZero();
    }

    @Test
    void acquireAsync_cancelledWhileTheStoreIsAsked_leavesNothingCharged() {
        CompletableFuture<Decision> answer = ask(2);
        whenAsked = () -> answer.cancel(false);

        tasks.forEach(Runnable::run);

        assertThat(left()).isEqualTo(2);
    }

    @Test
    void acquireAsync_cancelledWhileTheStoreRefuses_doesNotWait() {
        assertThat(store.tryCharge(POLICY, "k", 2)).isTrue();
        CompletableFuture<Decision> answer = ask(2);
        whenAsked = () -> answer.cancel(false);

        tasks.forEach(Runnable::run);

        assertThat(queue.waiting("api")).isZero();
        ticker.advance(Duration.ofSeconds(1));
        assertThat(left()).isEqualTo(2);
        ticker.advance(Duration.ofMinutes(2));
        assertThat(ticker.alarms()).isLessThanOrEqualTo(1);
    }

    @Test
    void acquireAsync_noThread_fails() {
        blocking = task -> {
            throw new RejectedExecutionException();
        };

        assertThat(ask(1)).isCompletedExceptionally();
    }
}
