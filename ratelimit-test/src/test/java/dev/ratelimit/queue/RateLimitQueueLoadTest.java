package dev.ratelimit.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Seeds;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.queue.RateLimitQueue.Order;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Counts what threads do to a queue by the system's clock: callers, cancels, wakes, changes and refunds. */
@Timeout(120)
class RateLimitQueueLoadTest {

    private static final int THREADS = 4;
    private static final int CALLS = 1_500;
    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(3));
    private static final Policy BUCKET = Policy.of("bucket", TokenBucket.of(Rate.parse("20000/second"), 5));

    private final InMemoryStore store = InMemoryStore.builder().build();
    private final AtomicInteger holding = new AtomicInteger();
    private final AtomicInteger mostHolding = new AtomicInteger();

    @ParameterizedTest
    @EnumSource(Order.class)
    void threads_leaveNobodyBehind_andNoPermit(Order order) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        RateLimitQueue queue = RateLimitQueue.builder(store)
                .scheduler(on(pool))
                .policy("slots", new Waiting(Duration.ofSeconds(60), 200, order))
                .policy("bucket", new Waiting(Duration.ofMillis(2), 50, order))
                .build();
        Queue<CompletableFuture<Decision>> all = new ConcurrentLinkedQueue<>();
        try {
            List<Future<Void>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Random random = new Random(Seeds.next());
                running.add(threads.submit((Callable<Void>) () -> call(queue, random, all)));
            }
            for (Future<Void> one : running) {
                one.get();
            }
            for (CompletableFuture<Decision> one : all) {
                // a refusal, an admission or a cancellation
                assertThat(one.handle((decision, failure) -> "answered").get(90, TimeUnit.SECONDS))
                        .isEqualTo("answered");
            }
        } finally {
            threads.shutdownNow();
            pool.shutdown();
            assertThat(pool.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
        }

        assertThat(mostHolding.get()).isBetween(1, 3);
        assertThat(holding).hasValue(0);
        assertThat(store.peek(List.of(SLOTS.charge("k", 0))).limits().get(0).remaining())
                .isEqualTo(3);
        assertThat(queue.waiting("slots") + queue.waiting("bucket")).isZero();
    }

    private Void call(RateLimitQueue queue, Random random, Queue<CompletableFuture<Decision>> all) {
        for (int i = 0; i < CALLS; i++) {
            Charge[] charges = random.nextBoolean()
                    ? new Charge[] {SLOTS.charge("k")}
                    : new Charge[] {BUCKET.charge("b" + random.nextInt(2)), SLOTS.charge("k")};
            CompletableFuture<Decision> answer = queue.acquire(charges);
            all.add(answer);
            CompletableFuture<Void> unused = answer.thenAccept(decision -> hold(queue, decision));
            switch (random.nextInt(8)) {
                case 0 -> answer.cancel(false);
                case 1 -> queue.wake("slots");
                default -> {
                    // the next one
                }
            }
        }
        return null;
    }

    private void hold(RateLimitQueue queue, Decision decision) {
        if (decision.admitted()) {
            mostHolding.accumulateAndGet(holding.incrementAndGet(), Math::max);
            holding.decrementAndGet();
            store.refund(decision);
            queue.wake(SLOTS, "k");
        }
    }

    private static Scheduler on(Executor executor) {
        return new Scheduler() {
            @Override
            public Alarm schedule(Runnable task, long delayNanos) {
                return Scheduler.system().schedule(task, delayNanos);
            }

            @Override
            public Executor executor() {
                return executor;
            }
        };
    }
}
