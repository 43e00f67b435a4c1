package dev.ratelimit.redis;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Decision;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Scheduler;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Decisions, questions and refunds without a thread that waits. */
@ExtendWith(SilentLog.class)
class AsyncDecisionTest {

    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(10));
    private static final Policy WINDOW = Policy.of("window", FixedWindow.of(Rate.parse("1000/day")));
    private static final Duration DEADLINE = Duration.ofMillis(50);

    private final FakeTicker time = new FakeTicker();
    private final FakeRedis redis = new FakeRedis(time);
    private final Events events = new Events();
    private Executor executor = Runnable::run;
    private RedisStore store = build(redis.store());

    private RedisStore build(RedisStoreBuilder builder) {
        return builder.listener(events)
                .onStoreFailure("window", OnStoreFailure.DENY)
                .executor(task -> executor.execute(task))
                .build();
    }

    @AfterEach
    void close() {
        store.close();
    }

    private CompletableFuture<Decision> decide(Policy policy, long permits) {
        return future(store.decideAsync(List.of(policy.charge("k", permits))));
    }

    private static CompletableFuture<Decision> future(CompletionStage<Decision> stage) {
        return stage.toCompletableFuture();
    }

    /** What Redis says, without what this instance knows. */
    private long left(Policy policy) {
        Decision decision = store.peek(List.of(policy.charge("k", 0)));
        assertThat(RedisStore.decidedByRedis(decision)).isTrue();
        return decision.limits().get(0).remaining();
    }

    @Test
    void serverIsSlow_answersWhenItDoes() {
        redis.hang();

        CompletableFuture<Decision> decided = decide(SLOTS, 4);
        CompletableFuture<Decision> peeked = future(store.peekAsync(List.of(SLOTS.charge("k", 0))));
        assertThat(decided).isNotDone();
        assertThat(peeked).isNotDone();
        redis.goOn();

        assertThat(RedisStore.decidedByRedis(decided.join())).isTrue();
        assertThat(peeked.join()).hasRemaining(6);
        redis.hang();
        CompletableFuture<Void> refunded = store.refundAsync(decided.join()).toCompletableFuture();
        assertThat(refunded).isNotDone();
        redis.goOn();
        assertThat(refunded).isCompleted();
        assertThat(left(SLOTS)).isEqualTo(10);
        assertThat(time.alarms()).as("that of the local memory, perhaps").isLessThanOrEqualTo(1);
    }

    @Test
    void noAnswerByTheDeadline_policyDecides_andTheLateChargeIsRefunded() {
        redis.delayReplies();

        CompletableFuture<Decision> local = decide(SLOTS, 4);
        CompletableFuture<Decision> denied = decide(WINDOW, 4);
        time.advance(DEADLINE.minusNanos(1));
        assertThat(local).isNotDone();
        time.advanceNanos(1);

        assertThat(local.join()).isAdmitted();
        assertThat(RedisStore.decidedByRedis(local.join())).isFalse();
        assertThat(denied.handle((decision, failure) -> failure).join()).isInstanceOf(StoreUnavailableException.class);
        assertThat(events.failures(RemoteStoreFailure.TIMEOUT)).isEqualTo(2);
        redis.deliver();
        assertThat(left(SLOTS)).isEqualTo(10);
        assertThat(left(WINDOW)).isEqualTo(1000);
    }

    @Test
    void noAnswerToARefund_endsAtTheDeadline_andItIsSentAgain() {
        CompletableFuture<Decision> decided = decide(SLOTS, 4);
        redis.loseNextCommand();

        CompletableFuture<Void> refunded = store.refundAsync(decided.join()).toCompletableFuture();
        time.advance(DEADLINE);

        assertThat(refunded).isCompleted();
        assertThat(events.failures(RemoteStoreFailure.TIMEOUT)).isEqualTo(1);
        redis.cut();
        time.advance(Duration.ofSeconds(3));
        assertThat(left(SLOTS)).isEqualTo(10);
    }

    @Test
    void alarmOfTheDeadlineIsLate_isNotTheServersFault() {
        FakeRedis slow = new FakeRedis(time);
        try (RedisStore late = build(slow.store().scheduler(new Scheduler() {
            @Override
            public Alarm schedule(Runnable task, long delayNanos) {
                return time.schedule(task, 2 * delayNanos);
            }
        }))) {
            slow.hang();
            CompletableFuture<Decision> decided = future(late.decideAsync(List.of(SLOTS.charge("k"))));

            time.advance(DEADLINE.multipliedBy(2));

            assertThat(decided).isDone();
            assertThat(events.failures(RemoteStoreFailure.STALLED)).isEqualTo(1);
            assertThat(events.failures(RemoteStoreFailure.TIMEOUT)).isZero();
            slow.goOn();
        }
    }

    @Test
    void noAlarmCanBeSet_policyDecidesAtOnce() {
        redis.hang();
        redis.refuseAlarms(true);

        CompletableFuture<Decision> decided = decide(SLOTS, 4);

        assertThat(decided.join()).isAdmitted();
        assertThat(events.failures(RemoteStoreFailure.ERROR)).isEqualTo(1);
        redis.refuseAlarms(false);
        redis.goOn();
        assertThat(left(SLOTS)).isEqualTo(10);
    }

    @Test
    void cancelledBeforeTheAnswer_leavesNothingCharged() {
        redis.hang();
        CompletableFuture<Decision> decided = decide(SLOTS, 4);

        decided.cancel(false);
        redis.goOn();

        assertThat(left(SLOTS)).isEqualTo(10);
    }

    @Test
    void illegalArguments_failTheStageOnly() {
        Decision decision = decide(SLOTS, 4).join();

        assertThat(future(store.decideAsync(Collections.singletonList(null)))).isCompletedExceptionally();
        assertThat(future(store.peekAsync(Collections.singletonList(null)))).isCompletedExceptionally();
        CompletableFuture<Void> tooMuch =
                store.refundAsync(decision, List.of(SLOTS.charge("k", 5))).toCompletableFuture();
        assertThatThrownBy(tooMuch::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void dependents_runOnTheExecutorOnly_whateverTheyDo() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        executor = tasks::add;
        redis.hang();
        CompletableFuture<Decision> first = decide(SLOTS, 4);
        CompletableFuture<Void> throwing = first.thenAccept(decision -> {
            throw new IllegalStateException();
        });
        CompletableFuture<Decision> second = decide(SLOTS, 4);

        redis.goOn();

        assertThat(first).isNotDone();
        assertThat(second).isNotDone();
        tasks.forEach(Runnable::run);
        assertThat(throwing).isCompletedExceptionally();
        assertThat(second.join()).isAdmitted();
        assertThat(left(SLOTS)).isEqualTo(2);
    }

    @Test
    void executorRejects_dependentsRunOnThatOfTheScheduler() {
        executor = task -> {
            throw new RejectedExecutionException();
        };
        redis.hang();
        CompletableFuture<Decision> decided = decide(SLOTS, 4);

        redis.goOn();

        assertThat(decided.join()).isAdmitted();
    }

    @Test
    void executorRunsAndThrows_isAnsweredOnce() {
        executor = task -> {
            task.run();
            throw new RejectedExecutionException();
        };
        redis.hang();
        CompletableFuture<Decision> decided = decide(SLOTS, 4);

        redis.goOn();

        assertThat(decided.join()).isAdmitted();
        assertThat(left(SLOTS)).isEqualTo(6);
    }

    /** As thrown by tools that watch over threads that must not block. */
    private static final class MustNotBlock extends Error {
        private static final long serialVersionUID = 1L;
    }

    @Test
    void threadMustNotBlock_isNoFailureOfRedis() {
        FakeRedis watched = new FakeRedis(time);
        try (RedisStore eventLoop = build(watched.store().scheduler(new Scheduler() {
            @Override
            public Alarm schedule(Runnable task, long delayNanos) {
                return time.schedule(task, delayNanos);
            }

            @Override
            public boolean await(CompletableFuture<?> future, long nanos) throws InterruptedException {
                if (!future.isDone()) {
                    throw new MustNotBlock();
                }
                return true;
            }
        }))) {
            watched.hang();

            assertThatThrownBy(() -> eventLoop.decide(List.of(SLOTS.charge("k", 4))))
                    .isInstanceOf(MustNotBlock.class);
            CompletableFuture<Decision> decided = future(eventLoop.decideAsync(List.of(SLOTS.charge("k", 4))));
            watched.goOn();

            assertThat(decided.join()).isAdmitted();
            assertThat(eventLoop.available()).isTrue();
            assertThat(eventLoop.peek(List.of(SLOTS.charge("k", 0)))).hasRemaining(6);
        }
    }
}
