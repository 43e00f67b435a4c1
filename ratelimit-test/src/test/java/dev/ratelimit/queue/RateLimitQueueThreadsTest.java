package dev.ratelimit.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.FailingScheduler;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
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
                .policy("one", Waiting.of(Duration.ofHours(2), maxWaiting))
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

        List<Throwable> uncaught = new ArrayList<>();
        Thread.currentThread().setUncaughtExceptionHandler((thread, thrown) -> uncaught.add(thrown));

        ticker.advance(Duration.ofSeconds(1));
        ticker.advance(Duration.ofSeconds(1));

        assertThat(leaving.get()).isCancelled();
        assertThat(next).isCompletedWithValueMatching(Decision::admitted);
        assertThat(uncaught).extracting(Throwable::getMessage).containsExactly("no refunds");
    }

    @AfterEach
    void forgetHandler() {
        Thread.currentThread().setUncaughtExceptionHandler(null);
    }

    /** They are in the line of the head, and have alarms of their own. */
    @Test
    void schedulerThatFailsOnce_failsTheNewcomerOnly() {
        RateLimitQueue queue = queue(100);
        List<CompletableFuture<Decision>> waiting = ask(queue, 20);

        scheduler.failAlarms(1);
        CompletableFuture<Decision> newcomer = queue.acquire(ONE.charge("a"));

        assertThat(newcomer).isCompletedExceptionally();
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
    }

    @Test
    void schedulerThatFailsOnce_forTheHead_failsTheHeadOnly() {
        RateLimitQueue queue = queue(100);
        List<CompletableFuture<Decision>> waiting = ask(queue, 20);
        store.reset(ONE, "a");
        assertThat(store.tryCharge(ONE.charge("a"))).isTrue();
        ticker.advance(Duration.ofMillis(999));
        store.reset(ONE, "a");
        assertThat(store.tryCharge(ONE.charge("a"))).isTrue();
        ticker.advance(Duration.ofMillis(1));

        scheduler.failAlarms(1);
        staged.forEach(Runnable::run);

        assertThat(waiting.get(0)).isCompletedExceptionally();
        assertThat(waiting.subList(1, 20)).noneMatch(CompletableFuture::isDone);
        ticker.advance(Duration.ofSeconds(1));
        staged.get(1).run();
        assertThat(waiting.get(1)).isCompletedWithValueMatching(Decision::admitted);
    }

    @Test
    void schedulerThatFailsForEver_failsEverybodyInTurn_onASmallStack() {
        RateLimitQueue queue = queue(10_000);
        List<CompletableFuture<Decision>> waiting = ask(queue, 5_000);

        scheduler.failAlarms();
        waiting.get(0).cancel(false);
        ticker.advance(Duration.ofSeconds(1));
        runStaged();

        assertThat(waiting).allMatch(CompletableFuture::isDone);
        assertThat(waiting.get(1)).isCompletedWithValueMatching(Decision::admitted);
        assertThat(waiting.subList(2, 5_000)).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(queue.waiting("one")).isZero();
    }

    @Test
    void executorThatFailsForEver_failsEverybodyInTurn() {
        RateLimitQueue queue = queue(10_000);
        List<CompletableFuture<Decision>> waiting = ask(queue, 5_000);

        scheduler.failExecutor();
        ticker.advance(Duration.ofSeconds(1));

        assertThat(waiting).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(queue.waiting("one")).isZero();
    }

    /** Each of them returns its permit as soon as it has it, on the thread that gives it. */
    @Test
    void callersWhoServeEachOther_needASmallStack() {
        Policy slot = Policy.of("slot", Concurrency.of(1));
        RateLimitQueue queue = RateLimitQueue.builder(store)
                .ticker(ticker)
                .policy("slot", Waiting.of(Duration.ofMinutes(1), 10_000))
                .build();
        CompletableFuture<Decision> holder = queue.acquire(slot.charge());
        List<CompletableFuture<Void>> waiting = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            waiting.add(queue.acquire(slot.charge()).thenAccept(decision -> {
                store.refund(decision);
                queue.wake(slot, "");
            }));
        }

        store.refund(holder.join());
        queue.wake(slot, "");

        assertThat(waiting).allMatch(CompletableFuture::isDone).noneMatch(CompletableFuture::isCompletedExceptionally);
    }

    /** An alarm that rings late or again must not disturb what was begun since. */
    @Test
    void alarmsAndTasks_thatAreObsolete_doNothing() {
        List<Runnable> alarms = new ArrayList<>();
        AtomicInteger asked = new AtomicInteger();
        Scheduler keeping = new Scheduler() {
            @Override
            public Alarm schedule(Runnable task, long delayNanos) {
                alarms.add(task);
                return () -> {};
            }

            @Override
            public Executor executor() {
                return staged::add;
            }
        };
        RateLimitQueue queue = RateLimitQueue.builder(store)
                .ticker(ticker)
                .scheduler(keeping)
                .policy("one", Waiting.of(Duration.ofSeconds(60), 100))
                .build();
        assertThat(queue.acquire(ONE.charge("a"))).isCompleted();
        List<Charge> charges = List.of(ONE.charge("a"));
        CompletableFuture<Decision> waiting = queue.acquire(charges, () -> {
            asked.incrementAndGet();
            return store.decide(charges);
        });
        Runnable firstAlarm = alarms.get(1);
        firstAlarm.run();
        firstAlarm.run();
        assertThat(staged).hasSize(1);
        staged.get(0).run();
        staged.get(0).run();
        assertThat(asked).as("the first time, and once in vain").hasValue(2);
        assertThat(alarms).as("its end, and two attempts").hasSize(3);

        firstAlarm.run();
        assertThat(staged).hasSize(1);
        ticker.advance(Duration.ofSeconds(1));
        alarms.get(2).run();
        queue.wake(ONE, "a");
        assertThat(staged).hasSize(2);
        staged.get(0).run();
        assertThat(waiting).isNotDone();
        staged.get(1).run();

        assertThat(waiting).isCompletedWithValueMatching(Decision::admitted);
        assertThat(asked).hasValue(3);
    }

    /** Who leaves from behind does not take the turn from the head. */
    @Test
    void callerBehind_whoLeaves_doesNotMakeTheTaskOfTheHeadObsolete() {
        RateLimitQueue queue = queue(10);
        List<CompletableFuture<Decision>> waiting = ask(queue, 3);
        ticker.advance(Duration.ofSeconds(1));
        assertThat(staged).hasSize(1);

        waiting.get(2).cancel(false);

        staged.get(0).run();
        assertThat(waiting.get(0)).isCompletedWithValueMatching(Decision::admitted);
        assertThat(staged).hasSize(1);
    }

    /** An executor that discards a task has discarded one caller, and not the line. */
    @Test
    void executorThatLosesATask_losesTheTurnOfTheHeadOnly() {
        RateLimitQueue queue = RateLimitQueue.builder(store)
                .ticker(ticker)
                .scheduler(scheduler)
                .policy("one", Waiting.of(Duration.ofSeconds(5), 100))
                .build();
        List<CompletableFuture<Decision>> waiting = ask(queue, 1);
        ticker.advance(Duration.ofSeconds(1));
        staged.clear();
        CompletableFuture<Decision> next = queue.acquire(ONE.charge("a"));

        ticker.advance(Duration.ofMillis(4_010));
        runStaged();

        assertThat(refused(waiting.get(0))).isTrue();
        assertThat(next).isCompletedWithValueMatching(Decision::admitted);
    }

    /** Those who wait behind one who is served. */
    private static List<CompletableFuture<Decision>> ask(RateLimitQueue queue, int callers) {
        assertThat(queue.acquire(ONE.charge("a"))).isCompleted();
        List<CompletableFuture<Decision>> waiting = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
            waiting.add(queue.acquire(ONE.charge("a")));
        }
        return waiting;
    }

    private void runStaged() {
        while (!staged.isEmpty()) {
            staged.remove(0).run();
        }
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
