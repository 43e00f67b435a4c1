package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RateLimiterTest {

    private static final Policy POLICY = Policy.of("p", TokenBucket.of(Rate.parse("1/second")));
    private static final Charge CHARGE = POLICY.charge("k");

    private final FakeTicker ticker = new FakeTicker();
    private final RateLimitStore store = InMemoryStore.builder().ticker(ticker).build();
    private final RateLimiter limiter = new RateLimiter(store, ticker);

    @Test
    void tryAcquire_severalPoliciesAndKeys_allOrNothing() {
        Policy other = Policy.of("q", FixedWindow.of(Rate.parse("2/minute")));

        assertThat(limiter.tryAcquire(CHARGE, POLICY.charge("l"), other.charge()))
                .isTrue();
        assertThat(limiter.tryAcquire(other.charge(), CHARGE)).isFalse();
        assertThat(limiter.tryAcquire(other.charge())).isTrue();
    }

    @Test
    void acquire_permitIsThere_takesItAtOnce() throws InterruptedException {
        assertThat(limiter.acquire(Duration.ZERO, CHARGE)).isAdmitted();
    }

    @Test
    void acquireAsync_waitsExactlyAsLongAsItTakes() {
        limiter.tryAcquire(CHARGE);
        CompletableFuture<Reservation> waiting = limiter.acquireAsync(Duration.ofSeconds(5), CHARGE);

        ticker.advanceNanos(999_999_999);
        assertThat(waiting).isNotDone();
        ticker.advanceNanos(1);
        assertThat(waiting.join()).isAdmitted();
    }

    @Test
    void acquireAsync_cannotSucceedInTime_failsAtOnce() {
        limiter.tryAcquire(CHARGE);

        assertThat(limiter.acquireAsync(Duration.ofMillis(999), CHARGE).join())
                .isRefused()
                .hasRetryAfter(Duration.ofSeconds(1));
        assertThat(limiter.acquireAsync(Duration.ofDays(9), POLICY.charge("k", 2))
                        .join())
                .isNever();
    }

    @Test
    void acquireAsync_severalWait_eachGetsOneOrFailsWhenItIsTooLate() {
        limiter.tryAcquire(CHARGE);
        List<CompletableFuture<Reservation>> waiting = List.of(
                limiter.acquireAsync(Duration.ofSeconds(2), CHARGE),
                limiter.acquireAsync(Duration.ofSeconds(2), CHARGE),
                limiter.acquireAsync(Duration.ofSeconds(2), CHARGE));

        ticker.advance(Duration.ofSeconds(2));

        assertThat(waiting).allMatch(CompletableFuture::isDone);
        assertThat(waiting.stream().filter(future -> future.join().admitted()).count())
                .isEqualTo(2);
    }

    @Test
    void acquire_waits_takesThePermitWhenItIsDue() throws InterruptedException {
        limiter.tryAcquire(CHARGE);
        Waiter waiter = new Waiter(limiter, Duration.ofSeconds(1));

        waiter.awaitAlarm();
        ticker.advance(Duration.ofSeconds(1));

        assertThat(waiter.permit()).isAdmitted();
        assertThat(limiter.peek(CHARGE)).hasRemaining(0);
    }

    @Test
    void acquire_permitIsTakenByAnother_waitsAgainAsLongAsThereIsTime() throws InterruptedException {
        limiter.tryAcquire(CHARGE);
        Waiter waiter = new Waiter(limiter, Duration.ofMillis(2500));
        waiter.awaitAlarm();
        ticker.advanceNanos(Duration.ofSeconds(1).toNanos() - 1);
        limiter.reset(POLICY, "k");
        limiter.tryAcquire(CHARGE);

        ticker.advanceNanos(1);
        waiter.awaitAlarm();
        ticker.advanceNanos(Duration.ofSeconds(1).toNanos() - 1);

        assertThat(waiter.permit()).isAdmitted();
    }

    @Test
    @DisplayName("B9 a waiter that is cancelled loses no permit")
    void acquireAsync_cancelled_losesNoPermit() {
        limiter.tryAcquire(CHARGE);
        CompletableFuture<Reservation> waiting = limiter.acquireAsync(Duration.ofSeconds(5), CHARGE);

        waiting.cancel(false);
        ticker.advance(Duration.ofSeconds(1));

        assertThat(limiter.peek(CHARGE)).hasRemaining(1);
    }

    @Test
    @DisplayName("B9 a waiter that is cancelled just after it got its permit refunds it")
    void acquireAsync_cancelledTogetherWithThePermit_givesItBack() {
        AtomicReference<CompletableFuture<Reservation>> waiting = new AtomicReference<>();
        RateLimiter cancelling = whenDecided(() -> {
            if (waiting.get() != null) {
                waiting.get().cancel(false);
            }
        });
        cancelling.tryAcquire(CHARGE);
        waiting.set(cancelling.acquireAsync(Duration.ofSeconds(5), CHARGE));

        ticker.advance(Duration.ofSeconds(1));

        assertThat(waiting.get()).isCancelled();
        assertThat(limiter.peek(CHARGE)).hasRemaining(1);
    }

    @Test
    @DisplayName("B9 a waiter that is cancelled while it is refused once more sets no alarm")
    void acquireAsync_cancelledTogetherWithARefusal_holdsNothing() {
        AtomicReference<CompletableFuture<Reservation>> waiting = new AtomicReference<>();
        RateLimiter cancelling = whenDecided(() -> {
            if (waiting.get() != null) {
                waiting.get().cancel(false);
            }
        });
        cancelling.tryAcquire(CHARGE);
        int alarms = ticker.alarms();
        waiting.set(cancelling.acquireAsync(Duration.ofSeconds(5), CHARGE));
        ticker.advance(Duration.ofMillis(999));
        limiter.reset(POLICY, "k");
        limiter.tryAcquire(CHARGE);

        ticker.advance(Duration.ofMillis(1));

        assertThat(ticker.alarms()).isEqualTo(alarms);
    }

    @Test
    @DisplayName("B9 a waiter that is interrupted loses no permit, and stops waiting")
    void acquire_interrupted_losesNoPermit() throws InterruptedException {
        limiter.tryAcquire(CHARGE);
        int alarms = ticker.alarms();
        Waiter waiter = new Waiter(limiter, Duration.ofHours(1));
        waiter.awaitAlarm();

        waiter.interrupt();

        assertThat(waiter.failure()).isInstanceOf(InterruptedException.class);
        assertThat(ticker.alarms()).isEqualTo(alarms);
        ticker.advance(Duration.ofSeconds(1));
        assertThat(limiter.peek(CHARGE)).hasRemaining(1);
    }

    @Test
    @DisplayName("B9 a waiter that is interrupted just after it got its permit keeps it")
    void acquire_interruptedTogetherWithThePermit_returnsIt() throws InterruptedException {
        limiter.tryAcquire(CHARGE);
        AtomicInteger decisions = new AtomicInteger();
        RateLimiter interrupting = whenDecided(() -> {
            if (decisions.incrementAndGet() == 2) {
                Thread.currentThread().interrupt();
            }
        });
        Waiter waiter = new Waiter(interrupting, Duration.ofSeconds(1));
        waiter.awaitAlarm();

        ticker.advance(Duration.ofSeconds(1));

        assertThat(waiter.permit()).isAdmitted();
        assertThat(waiter.permit().refund()).isTrue();
        assertThat(limiter.peek(CHARGE)).hasRemaining(1);
    }

    @Test
    @DisplayName("H4 a wait that is cancelled holds nothing: no alarm is left, and the next caller is admitted")
    void acquireAsync_cancelled_holdsNothing() {
        limiter.tryAcquire(CHARGE);
        int alarms = ticker.alarms();
        List<CompletableFuture<Reservation>> waiting = Stream.generate(
                        () -> limiter.acquireAsync(Duration.ofHours(1), CHARGE))
                .limit(100)
                .toList();
        assertThat(ticker.alarms()).isEqualTo(alarms + 100);

        waiting.forEach(future -> future.cancel(false));
        assertThat(ticker.alarms()).isEqualTo(alarms);
        ticker.advance(Duration.ofSeconds(1));

        assertThat(limiter.tryAcquire(CHARGE)).isTrue();
    }

    @Test
    void acquireAsync_executorGiven_goesOnThere() {
        List<Runnable> handedOver = new ArrayList<>();
        RateLimiter onExecutor = new RateLimiter(store, ticker, ticker, handedOver::add);
        limiter.tryAcquire(CHARGE);
        CompletableFuture<Reservation> waiting = onExecutor.acquireAsync(Duration.ofSeconds(1), CHARGE);

        ticker.advance(Duration.ofSeconds(1));
        assertThat(waiting).isNotDone();
        handedOver.forEach(Runnable::run);
        assertThat(waiting.join()).isAdmitted();
    }

    static Stream<Throwable> executorFailures() {
        return Stream.of(
                new RejectedExecutionException("no thread"),
                new IllegalStateException("no thread"),
                new StackOverflowError("no thread"));
    }

    private static Executor throwing(Throwable failure) {
        return task -> {
            if (failure instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) failure;
        };
    }

    @ParameterizedTest
    @MethodSource("executorFailures")
    void acquireAsync_executorThrows_failsTheWait(Throwable failure) {
        RateLimiter onExecutor = new RateLimiter(store, ticker, ticker, throwing(failure));
        limiter.tryAcquire(CHARGE);
        CompletableFuture<Reservation> waiting = onExecutor.acquireAsync(Duration.ofSeconds(1), CHARGE);

        ticker.advance(Duration.ofSeconds(1));

        assertThat(waiting).failsWithin(Duration.ZERO).withThrowableThat().withMessageContaining("no thread");
        assertThat(limiter.peek(CHARGE)).hasRemaining(1);
    }

    @ParameterizedTest
    @MethodSource("executorFailures")
    void acquireAsync_everyExecutorThrows_failsTheWait(Throwable failure) {
        Ticker withoutThreads = new TickerOf(ticker) {
            @Override
            public Executor executor() {
                return throwing(failure);
            }
        };
        limiter.tryAcquire(CHARGE);
        CompletableFuture<Reservation> waiting =
                new RateLimiter(store, withoutThreads).acquireAsync(Duration.ofSeconds(1), CHARGE);

        ticker.advance(Duration.ofSeconds(1));

        assertThat(waiting).failsWithin(Duration.ZERO).withThrowableThat().withMessageContaining("no thread");
    }

    @Test
    @DisplayName("B9 a waiter whose alarm runs early leaves none when it is cancelled")
    void acquireAsync_alarmRingsAtOnce_cancelledHoldsNothing() {
        Policy hourly = Policy.of("hourly", FixedWindow.of(Rate.parse("1/hour")));
        AtomicInteger alarmsSet = new AtomicInteger();
        Ticker quick = new TickerOf(ticker) {
            @Override
            public Alarm schedule(Runnable task, long delayNanos) {
                Alarm alarm = super.schedule(task, delayNanos);
                if (alarmsSet.incrementAndGet() == 1) {
                    limiter.tryAcquire(hourly.charge());
                    ticker.advanceNanos(delayNanos);
                }
                return alarm;
            }
        };
        limiter.tryAcquire(CHARGE);
        int alarms = ticker.alarms();
        CompletableFuture<Reservation> waiting =
                new RateLimiter(store, quick).acquireAsync(Duration.ofHours(2), CHARGE, hourly.charge());
        assertThat(alarmsSet).hasValue(2);

        waiting.cancel(false);

        assertThat(ticker.alarms()).isEqualTo(alarms);
    }

    @Test
    void acquire_storeFails_evenWithAnError_failsTheWait() {
        RateLimiter broken = new RateLimiter(new FailingStore(), ticker);

        assertThatThrownBy(() -> broken.acquire(Duration.ofSeconds(1), CHARGE)).isInstanceOf(StackOverflowError.class);
        assertThat(broken.acquireAsync(Duration.ofSeconds(1), CHARGE))
                .failsWithin(Duration.ofSeconds(50))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(StackOverflowError.class);
    }

    @Test
    void decideAsync_slowStore_returnsBeforeItAnswers() {
        CountDownLatch answer = new CountDownLatch(1);
        RateLimiter slow = new RateLimiter(slow(answer), ticker);

        CompletableFuture<Decision> decided = slow.decideAsync(CHARGE);
        CompletableFuture<Reservation> acquired = slow.acquireAsync(Duration.ZERO, CHARGE);

        assertThat(decided).isNotDone();
        assertThat(acquired).isNotDone();
        answer.countDown();
        assertThat(decided.join().admitted() ^ acquired.join().admitted()).isTrue();
    }

    @Test
    void acquireAsync_cancelledWhileTheStoreIsAsked_leavesNothingCharged() throws InterruptedException {
        CountDownLatch answer = new CountDownLatch(1);
        CountDownLatch refunded = new CountDownLatch(1);
        RateLimitStore slow = new ForwardingStore(slow(answer)) {
            @Override
            public void refund(Decision decision, List<Charge> part) {
                super.refund(decision, part);
                refunded.countDown();
            }
        };
        CompletableFuture<Reservation> acquired = new RateLimiter(slow, ticker).acquireAsync(Duration.ZERO, CHARGE);

        acquired.cancel(false);
        answer.countDown();

        assertThat(refunded.await(50, TimeUnit.SECONDS)).isTrue();
        assertThat(limiter.peek(CHARGE)).hasRemaining(1);
    }

    /** A store that can only block, until it may answer. */
    private RateLimitStore slow(CountDownLatch answer) {
        return new ForwardingStore(store) {
            @Override
            public Decision decide(List<Charge> charges) {
                try {
                    answer.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                return super.decide(charges);
            }
        };
    }

    @Test
    void acquire_negativeWait_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limiter.acquireAsync(Duration.ofNanos(-1), CHARGE))
                .withMessage("maxWait must not be negative but was PT-0.000000001S");
    }

    /** A limiter on the same store that runs an action after each decision, before the result is returned. */
    private RateLimiter whenDecided(Runnable task) {
        RateLimitStore observed = new ForwardingStore(store) {
            @Override
            public Decision decide(List<Charge> charges) {
                Decision decision = super.decide(charges);
                task.run();
                return decision;
            }

            @Override
            public CompletionStage<Decision> decideAsync(List<Charge> charges) {
                return CompletableFuture.completedFuture(decide(charges));
            }

            @Override
            public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
                return store().refundAsync(decision, part);
            }
        };
        return new RateLimiter(observed, ticker);
    }

    /** The same clock, partly overridden by a test. */
    private static class TickerOf implements Ticker, Scheduler {
        private final FakeTicker time;

        TickerOf(FakeTicker time) {
            this.time = time;
        }

        @Override
        public long nanos() {
            return time.nanos();
        }

        @Override
        public long epochNanos() {
            return time.epochNanos();
        }

        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            return time.schedule(task, delayNanos);
        }
    }

    /** A thread that acquires {@link #CHARGE}. */
    private final class Waiter {
        private final CompletableFuture<Reservation> outcome = new CompletableFuture<>();
        private final Thread thread;
        private final int alarms = ticker.alarms();

        Waiter(RateLimiter asked, Duration maxWait) {
            thread = new Thread(() -> {
                try {
                    outcome.complete(asked.acquire(maxWait, CHARGE));
                } catch (Throwable t) {
                    outcome.completeExceptionally(t);
                }
            });
            thread.start();
        }

        /** Returns when the thread waits, or has ended. */
        void awaitAlarm() {
            while (ticker.alarms() == alarms && !outcome.isDone()) {
                Thread.onSpinWait();
            }
        }

        void interrupt() {
            thread.interrupt();
        }

        Reservation permit() {
            return outcome.join();
        }

        Throwable failure() {
            return outcome.handle((reservation, failure) -> failure).join();
        }
    }

    private static final class FailingStore implements RateLimitStore {
        @Override
        public Decision decide(List<Charge> charges) {
            throw new StackOverflowError();
        }

        @Override
        public Decision peek(List<Charge> charges) {
            throw new StackOverflowError();
        }

        @Override
        public void refund(Decision decision, List<Charge> part) {}

        @Override
        public boolean reset(Policy policy, String key) {
            return true;
        }
    }
}
