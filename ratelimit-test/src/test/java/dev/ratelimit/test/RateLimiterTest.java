package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Permit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RateLimiterTest {

    private static final Policy POLICY = Policy.of("p", TokenBucket.of(Rate.parse("1/second")));
    private static final Charge CHARGE = POLICY.charge("k");

    private final FakeTicker ticker = new FakeTicker();
    private final RateLimiter limiter =
            new RateLimiter(InMemoryStore.builder().ticker(ticker).build(), ticker);

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
        CompletableFuture<Permit> waiting = limiter.acquireAsync(Duration.ofSeconds(5), CHARGE);

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
        List<CompletableFuture<Permit>> waiting = List.of(
                limiter.acquireAsync(Duration.ofSeconds(2), CHARGE),
                limiter.acquireAsync(Duration.ofSeconds(2), CHARGE),
                limiter.acquireAsync(Duration.ofSeconds(2), CHARGE));

        ticker.advance(Duration.ofSeconds(2));

        assertThat(waiting).allMatch(CompletableFuture::isDone);
        assertThat(waiting.stream().filter(future -> future.join().admitted()).count())
                .isEqualTo(2);
    }

    @Test
    @DisplayName("B9 a waiter that is cancelled loses no permit")
    void acquireAsync_cancelled_losesNoPermit() {
        limiter.tryAcquire(CHARGE);
        CompletableFuture<Permit> waiting = limiter.acquireAsync(Duration.ofSeconds(5), CHARGE);

        waiting.cancel(false);
        ticker.advance(Duration.ofSeconds(1));

        assertThat(limiter.peek(CHARGE)).hasRemaining(1);
    }

    @Test
    @DisplayName("B9 a waiter that is interrupted loses no permit")
    void acquire_interrupted_losesNoPermit() throws InterruptedException {
        limiter.tryAcquire(CHARGE);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread waiter = new Thread(() -> {
            try {
                limiter.acquire(Duration.ofSeconds(5), CHARGE);
            } catch (Throwable t) {
                thrown.set(t);
            }
        });
        waiter.start();
        waiter.interrupt();
        waiter.join();

        ticker.advance(Duration.ofSeconds(1));

        assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
        assertThat(limiter.peek(CHARGE)).hasRemaining(1);
    }

    @Test
    @DisplayName("B9 a waiter that is interrupted when its permit has just come gives it back")
    void acquire_interruptedTogetherWithThePermit_givesItBack() throws InterruptedException {
        for (int round = 0; round < 200; round++) {
            Charge charge = POLICY.charge("k" + round);
            limiter.tryAcquire(charge);
            AtomicReference<Permit> got = new AtomicReference<>();
            Thread waiter = new Thread(() -> {
                try {
                    got.set(limiter.acquire(Duration.ofSeconds(1), charge));
                } catch (InterruptedException expected) {
                    Thread.currentThread().interrupt();
                }
            });
            waiter.start();
            while (ticker.alarms() == 0 && waiter.isAlive()) {
                Thread.onSpinWait();
            }
            Thread interrupter = new Thread(waiter::interrupt);
            interrupter.start();
            ticker.advance(Duration.ofSeconds(1));
            waiter.join();
            interrupter.join();

            Permit permit = got.get();
            boolean taken = permit != null && permit.admitted();
            assertThat(limiter.peek(charge)).hasRemaining(taken ? 0 : 1);
            limiter.reset(POLICY, charge.key());
        }
    }

    @Test
    @DisplayName(
            "H4 a wait that is cancelled holds nothing: who comes next is served, and the last alarm charges nobody")
    void acquireAsync_cancelled_holdsNothing() {
        limiter.tryAcquire(CHARGE);
        List<CompletableFuture<Permit>> waiting = Stream.generate(
                        () -> limiter.acquireAsync(Duration.ofHours(1), CHARGE))
                .limit(100)
                .toList();

        waiting.forEach(future -> future.cancel(false));
        ticker.advance(Duration.ofSeconds(1));

        assertThat(limiter.tryAcquire(CHARGE)).isTrue();
        ticker.advance(Duration.ofHours(1));
        assertThat(limiter.peek(CHARGE)).hasRemaining(1);
        assertThat(ticker.alarms()).isZero();
    }

    @Test
    @DisplayName("H4 a wait that is interrupted ends at once, and neither it nor its alarm charges anything")
    void acquire_interruptedWhileItWaits_holdsNothing() throws InterruptedException {
        limiter.tryAcquire(CHARGE);
        int alarms = ticker.alarms();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread waiter = new Thread(() -> {
            try {
                limiter.acquire(Duration.ofHours(1), CHARGE);
            } catch (Throwable t) {
                thrown.set(t);
            }
        });
        waiter.start();
        while (ticker.alarms() == alarms) {
            Thread.onSpinWait();
        }

        waiter.interrupt();
        waiter.join();

        assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
        ticker.advance(Duration.ofSeconds(1));
        assertThat(limiter.tryAcquire(CHARGE)).isTrue();
        ticker.advance(Duration.ofHours(1));
        assertThat(limiter.peek(CHARGE)).hasRemaining(1);
        assertThat(ticker.alarms()).isZero();
    }

    @Test
    void acquire_storeFails_evenWithAnError_failsTheWait() {
        RateLimiter broken = new RateLimiter(new FailingStore(), ticker);

        assertThatThrownBy(() -> broken.acquire(Duration.ofSeconds(1), CHARGE)).isInstanceOf(StackOverflowError.class);
        assertThat(broken.acquireAsync(Duration.ofSeconds(1), CHARGE)).isCompletedExceptionally();
    }

    @Test
    void acquire_negativeWait_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limiter.acquireAsync(Duration.ofNanos(-1), CHARGE))
                .withMessage("maxWait must not be negative but was PT-0.000000001S");
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
        public void refund(List<Charge> charges, Decision decision) {}

        @Override
        public void reset(Policy policy, String key) {}
    }
}
