package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.FailingScheduler;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitQueue;
import dev.ratelimit.RateLimitQueue.Waiting;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** On which threads callers are answered, and what happens if there are none. */
class RateLimitQueueThreadsTest {

    private static final Policy ONE = Policy.of("one", TokenBucket.of(Rate.of(1, Duration.ofSeconds(1))));

    private final FakeTicker ticker = new FakeTicker();
    private final InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
    private final List<Runnable> staged = new ArrayList<>();

    /** Its executor waits for the test. */
    private final FailingScheduler scheduler = new FailingScheduler(ticker, staged::add);

    private RateLimitQueue queue(int maxWaiting) {
        return RateLimitQueue.builder(store)
                .ticker(ticker)
                .scheduler(scheduler)
                .policy("one", Waiting.of(Duration.ofSeconds(60), maxWaiting))
                .build();
    }

    private static boolean refused(CompletableFuture<Decision> answer) {
        return answer.isDone() && !answer.join().admitted();
    }

    @Test
    void displaced_isAnsweredOnTheExecutor_notOnTheNewcomersThread() {
        RateLimitQueue queue = queue(2);
        assertThat(queue.acquire(ONE.charge("a"))).isCompleted();
        assertThat(queue.acquire(ONE.charge("b"))).isCompleted();
        CompletableFuture<Decision> first = queue.acquire(ONE.charge("a"));
        CompletableFuture<Decision> last = queue.acquire(ONE.charge("a"));

        CompletableFuture<Decision> newcomer = queue.acquire(ONE.charge("b"));

        assertThat(last).isNotDone();
        staged.forEach(Runnable::run);
        assertThat(refused(last)).isTrue();
        assertThat(first).isNotDone();
        assertThat(newcomer).isNotDone();
    }

    @Test
    void newcomer_whoseLineWouldBeAsLongAsTheLongest_displacesNobody() {
        RateLimitQueue queue = queue(3);
        assertThat(queue.acquire(ONE.charge("a"))).isCompleted();
        assertThat(queue.acquire(ONE.charge("b"))).isCompleted();
        List<CompletableFuture<Decision>> waiting = Stream.of("a", "b", "a")
                .map(key -> queue.acquire(ONE.charge(key)))
                .toList();

        assertThat(refused(queue.acquire(ONE.charge("b")))).isTrue();

        staged.forEach(Runnable::run);
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
    }

    @Test
    void schedulerThatFails_completesExceptionally_andLeavesNobodyInTheLine() {
        RateLimitQueue queue = queue(10);
        assertThat(queue.acquire(ONE.charge("a"))).isCompleted();

        scheduler.failAlarms();
        CompletableFuture<Decision> waiting = queue.acquire(ONE.charge("a"));

        assertThat(waiting).isCompletedExceptionally();
        assertThat(queue.waiting("one")).isZero();
    }

    @Test
    void executorThatFails_completesExceptionally() {
        RateLimitQueue queue = queue(10);
        assertThat(queue.acquire(ONE.charge("a"))).isCompleted();
        CompletableFuture<Decision> waiting = queue.acquire(ONE.charge("a"));

        scheduler.failExecutor();
        ticker.advance(Duration.ofSeconds(1));

        assertThat(waiting).isCompletedExceptionally();
        assertThat(queue.waiting("one")).isZero();
    }

    @Test
    void refundThatFails_doesNotKeepTheNextOneFromBeingServed() {
        RateLimitStore failing = new ForwardingStore(store) {
            @Override
            public void refund(Decision decision, List<Charge> part) {
                throw new IllegalStateException("no refunds");
            }
        };
        RateLimitQueue queue = RateLimitQueue.builder(failing)
                .ticker(ticker)
                .policy("one", Waiting.of(Duration.ofSeconds(60), 10))
                .build();
        assertThat(queue.acquire(ONE.charge("a"))).isCompleted();
        AtomicReference<CompletableFuture<Decision>> leaving = new AtomicReference<>();
        List<Charge> charges = List.of(ONE.charge("a"));
        leaving.set(queue.acquire(charges, () -> {
            CompletableFuture<Decision> own = leaving.get();
            if (own != null) {
                own.cancel(false);
            }
            return failing.decide(charges);
        }));
        CompletableFuture<Decision> next = queue.acquire(ONE.charge("a"));

        ticker.advance(Duration.ofSeconds(1));
        ticker.advance(Duration.ofSeconds(1));

        assertThat(leaving.get()).isCancelled();
        assertThat(next).isCompletedWithValueMatching(Decision::admitted);
    }

    /** Nobody is lost: whoever comes while the queue is closed is admitted, or refused, at once or by closing it. */
    @Test
    void closeAmongCallers_leavesNobodyWaiting() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
            for (int round = 0; round < 1_000; round++) {
                RateLimitQueue queue = RateLimitQueue.builder(store)
                        .ticker(ticker)
                        .policy("one", Waiting.of(Duration.ofSeconds(60), 1_000))
                        .build();
                String key = Integer.toString(round);
                Queue<CompletableFuture<Decision>> answers = new ConcurrentLinkedQueue<>();
                CyclicBarrier start = new CyclicBarrier(3);
                Callable<Void> caller = () -> {
                    start.await();
                    for (int i = 0; i < 20; i++) {
                        answers.add(queue.acquire(ONE.charge(key)));
                        queue.wake(ONE, key);
                    }
                    return null;
                };
                Callable<Void> closer = () -> {
                    start.await();
                    while (answers.size() < 10) {
                        Thread.onSpinWait();
                    }
                    queue.close();
                    return null;
                };

                for (Future<Void> done : threads.invokeAll(List.of(caller, caller, closer))) {
                    done.get();
                }

                assertThat(answers).hasSize(40).allMatch(CompletableFuture::isDone);
                assertThat(answers.stream().filter(answer -> !refused(answer))).hasSize(1);
                assertThat(queue.waiting("one")).isZero();
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
