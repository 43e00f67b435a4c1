package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.Scheduler;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The part of the {@link RateLimitStoreContract} on calls that do not block: they have the same results. */
@SuppressWarnings("CheckReturnValue") // charges prepare the state of keys
abstract class StoreAsyncContract extends StoreClockContract {

    /** The longest wait for an answer. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** What the store answers; throws what it fails with. */
    static Decision answer(CompletionStage<Decision> stage) {
        await(stage);
        return stage.toCompletableFuture().join();
    }

    private static void await(CompletionStage<?> stage) {
        try {
            stage.toCompletableFuture()
                    .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                    .join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException exception ? exception : e;
        }
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void refundAsync_partThenAll_givesThatBack(Limit limit) {
        Policy policy = Policy.of("p", limit, TokenBucket.of(TEN_A_SECOND));
        Decision part = answer(store.decideAsync(List.of(policy.charge("a", 6), policy.charge("b", 6))));
        Decision all = answer(store.decideAsync(List.of(policy.charge("c", 6))));

        await(store.refundAsync(part, List.of(policy.charge("b", 4))));
        await(store.refundAsync(all));

        assertThat(answer(store.peekAsync(List.of(policy.charge("a"), policy.charge("b"), policy.charge("c")))))
                .hasRemaining(4, 4, 8, 8, 10, 10);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void peekAsync_answersAsPeek(Limit limit) {
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("k", tenths(limit, 7)));

        for (long permits : new long[] {0, 1, limit.capacity(), limit.capacity() + 1}) {
            List<Charge> charges = List.of(policy.charge("k", permits));
            assertThat(answer(store.peekAsync(charges))).isEqualTo(store.peek(charges));
        }
    }

    @Test
    void asynchronousCalls_fail_failTheirStage() {
        Policy policy = Policy.of("p", TokenBucket.of(TEN_A_SECOND));
        List<Charge> withoutCharge = Collections.singletonList(null);
        Decision decision = limiter.decide(policy.charge("k", 5));

        CompletionStage<?> decided = begun(() -> store.decideAsync(withoutCharge));
        CompletionStage<?> peeked = begun(() -> store.peekAsync(withoutCharge));
        CompletionStage<?> tooMuch = begun(() -> store.refundAsync(decision, List.of(policy.charge("k", 6))));
        CompletionStage<?> other = begun(() -> store.refundAsync(decision, List.of(policy.charge("other"))));

        assertThatNullPointerException().isThrownBy(() -> await(decided));
        assertThatNullPointerException().isThrownBy(() -> await(peeked));
        assertThatIllegalArgumentException().isThrownBy(() -> await(tooMuch));
        assertThatIllegalArgumentException().isThrownBy(() -> await(other));
        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(5);
    }

    @ParameterizedTest
    @MethodSource("limitsAndClocks")
    void acquireAsync_exhausted_waitsForThePermit(Limit limit, Clock clock) {
        use(clock);
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("k", limit.capacity()));

        // the store may answer on another thread, and only then there is something to wait for
        CompletableFuture<Void> waits = new CompletableFuture<>();
        Scheduler scheduler = (task, delayNanos) -> {
            Scheduler.Alarm alarm = ticker.schedule(task, delayNanos);
            waits.complete(null);
            return alarm;
        };
        CompletableFuture<Reservation> waiting = new RateLimiter(store, ticker, scheduler)
                .acquireAsync(Duration.ofSeconds(3), policy.charge("k", tenths(limit, 3)));
        await(waits);
        assertThat(waiting).isNotDone();
        ticker.advance(Duration.ofSeconds(2));
        await(waiting);

        assertThat(waiting.join()).isAdmitted();
    }

    private static CompletionStage<?> begun(Supplier<CompletionStage<?>> call) {
        try {
            return call.get();
        } catch (RuntimeException e) {
            throw new AssertionError("an asynchronous call must fail its stage, and not throw", e);
        }
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void decideAsync_cancelled_isAnsweredOrLeavesNothingCharged(Limit limit) {
        Policy policy = Policy.of("p", limit);
        CompletableFuture<Decision> decided =
                store.decideAsync(List.of(policy.charge("k", 10))).toCompletableFuture();

        decided.cancel(false);

        if (decided.isCancelled()) {
            awaitRemaining(policy, 10);
        } else {
            assertThat(decided.join()).isAdmitted();
            assertThat(limiter.peek(policy.charge("k"))).hasRemaining(0);
        }
    }

    /** The store may still be deciding, and refunds then. */
    private void awaitRemaining(Policy policy, long permits) {
        for (int i = 0;
                i < PATIENCE.toMillis() / 10
                        && limiter.inspect(policy, "k").get(0).remaining() != permits;
                i++) {
            LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
        }
        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(permits);
    }
}
