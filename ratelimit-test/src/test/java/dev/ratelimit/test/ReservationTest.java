package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyLimiter;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReservationTest {

    private static final Policy TOKENS =
            Policy.of("tokens", TokenBucket.of(Rate.parse("100/day")), SlidingLog.of(Rate.parse("1000/day")));

    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(3));

    private final FakeTicker ticker = new FakeTicker();
    private final RateLimitStore store = InMemoryStore.builder().ticker(ticker).build();
    private final RateLimiter limiter = new RateLimiter(store, ticker);
    private final PolicyLimiter tokens = limiter.forPolicy(TOKENS);

    @BeforeEach
    void moveAtEachReading() {
        ticker.advanceOnRead(Duration.ofNanos(1));
    }

    private long left(String key) {
        return limiter.inspect(TOKENS, key).get(0).remaining();
    }

    @Test
    void toString_tellsTheDecision_andNoKey() {
        assertThat(tokens.reserve("alice", 60).toString())
                .startsWith("reservation, admitted [tokens (")
                .doesNotContain("alice");
    }

    @Test
    void settle_less_givesTheRestBack() {
        Reservation reservation = tokens.reserve("alice", 60);

        assertThat(reservation.settle(25)).isTrue();

        assertThat(limiter.peek(TOKENS.charge("alice", 0))).hasRemaining(75, 975);
    }

    @Test
    void settle_more_chargesTheDifference() {
        Reservation reservation = tokens.reserve("alice", 10);

        assertThat(reservation.settle(35)).isTrue();

        assertThat(limiter.peek(TOKENS.charge("alice", 0))).hasRemaining(65, 965);
    }

    @Test
    void settle_moreThanIsLeft_takesWhatIsLeft() {
        Reservation reservation = tokens.reserve("alice", 10);
        assertThat(tokens.tryAcquire("alice", 80)).isTrue();

        assertThat(reservation.settle(5_000)).isTrue();

        assertThat(left("alice")).isZero();
        assertThat(tokens.tryAcquire("alice")).isFalse();
    }

    @Test
    void settle_moreThanIsLeft_startsNoPenalty() {
        Policy policy =
                Policy.of("penalized", TokenBucket.of(Rate.parse("100/minute"))).withPenalty(Duration.ofHours(1));
        Reservation reservation = limiter.reserve(policy.charge("alice", 10));

        assertThat(reservation.settle(5_000)).isTrue();
        assertThat(limiter.inspect(policy, "alice").get(0).remaining()).isZero();
        ticker.advance(Duration.ofMinutes(1));

        assertThat(limiter.tryAcquire(policy.charge("alice"))).isTrue();
    }

    @Test
    void and_settlesBoth_eachChargeOnce() {
        Policy all = Policy.of("all", TokenBucket.of(Rate.parse("500/day")));
        Reservation first = tokens.reserve("alice", 60);
        Reservation second = limiter.reserve(all.charge("", 10), all.charge("b", 10));
        Reservation both = first.and(second.part(charge -> charge.key().isEmpty()));

        assertThat(both.admitted()).isTrue();
        assertThat(both.decision().charges()).hasSize(3);
        assertThat(first.settle(50)).isTrue();
        assertThat(both.settle(25)).isTrue();
        assertThat(second.refund()).isTrue();
        assertThat(both.commit()).isFalse();

        assertThat(limiter.peek(TOKENS.charge("alice", 0), all.charge("", 0), all.charge("b", 0)))
                .hasRemaining(50, 950, 475, 500);
    }

    @Test
    void and_commit_keepsBoth() {
        Policy all = Policy.of("all", TokenBucket.of(Rate.parse("500/day")));
        Reservation both = tokens.reserve("alice", 60).and(limiter.reserve(all.charge("", 10)));

        assertThat(both.forPolicy("all").commit()).isTrue();
        assertThat(both.refund()).isTrue();

        assertThat(limiter.peek(TOKENS.charge("alice", 0), all.charge("", 0))).hasRemaining(100, 1000, 490);
    }

    @Test
    void settle_severalCharges_isForEachOfThem() {
        Policy all = Policy.of("all", TokenBucket.of(Rate.parse("500/day")));
        Reservation reservation = limiter.reserve(TOKENS.charge("alice", 50), all.charge("", 10));

        reservation.settle(20);

        assertThat(limiter.peek(TOKENS.charge("alice", 0), all.charge("", 0))).hasRemaining(80, 980, 480);
    }

    @Test
    void settle_chargeThatOnlyAsked_isChargedTheCost() {
        Reservation reservation = tokens.reserve("alice", 0);

        assertThat(reservation.settle(20)).isTrue();

        assertThat(limiter.peek(TOKENS.charge("alice", 0))).hasRemaining(80, 980);
    }

    @Test
    void settle_chargesThrow_refundsTheOthers() {
        Policy all = Policy.of("all", TokenBucket.of(Rate.parse("500/day")));
        Reservation reservation = new RateLimiter(new OnceDecidingStore(store), ticker)
                .reserve(all.charge("", 10), TOKENS.charge("alice", 50), all.charge("b", 5));

        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> reservation.settle(20));

        assertThat(limiter.peek(TOKENS.charge("alice", 0))).hasRemaining(80, 980);
        assertThat(reservation.settle(20)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, StoreUnavailableException.class, OutOfMemoryError.class})
    void settle_oneStepThrows_takesTheOthers_andThrowsIt(Class<? extends Throwable> thrown) {
        Policy all = Policy.of("all", TokenBucket.of(Rate.parse("500/day")));
        Throwable failure = thrown == OutOfMemoryError.class
                ? new OutOfMemoryError()
                : thrown == IllegalStateException.class
                        ? new IllegalStateException()
                        : new StoreUnavailableException("all", Duration.ZERO, "test");
        RateLimitStore failing = new ForwardingStore(store) {
            @Override
            public void refund(Decision decision, List<Charge> part) {
                ReservationTest.<RuntimeException>sneak(failure);
            }
        };
        Reservation reservation = limiter.reserve(all.charge("", 10), TOKENS.charge("alice", 50))
                .and(new RateLimiter(failing, ticker).reserve(all.charge("b", 50)))
                .and(limiter.reserve(all.charge("c", 10)));

        assertThatThrownBy(() -> reservation.settle(20)).isSameAs(failure);

        assertThat(limiter.peek(TOKENS.charge("alice", 0), all.charge("", 0), all.charge("b", 0), all.charge("c", 0)))
                .hasRemaining(80, 980, 480, 450, 480);
        assertThat(reservation.settle(20)).isFalse();
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }

    @Test
    void and_partsWithTheSameCharge_settleItOnce() {
        assertThat(tokens.tryAcquire("alice", 40)).isTrue();
        Reservation reservation = tokens.reserve("alice", 20);

        assertThat(reservation.forPolicy("tokens").and(reservation).refund()).isTrue();

        assertThat(left("alice")).isEqualTo(60);
    }

    /** What one charge gives back, another one can take. */
    @Test
    void settle_refundsFirst() {
        Reservation both = tokens.reserve("alice", 40).and(tokens.reserve("alice", 60));

        both.settle(50);

        assertThat(left("alice")).isZero();
    }

    @Test
    void settle_chargedToTheOverflow_takesWhatIsLeftThere() {
        RateLimitStore small = InMemoryStore.builder().ticker(ticker).maxKeys(1).build();
        RateLimiter onSmall = new RateLimiter(small, ticker);
        Policy five = Policy.of("five", TokenBucket.of(Rate.parse("5/day")));
        assertThat(onSmall.tryAcquire(five.charge("exhausted", 5))).isTrue();
        Reservation reservation = onSmall.reserve(five.charge("no room", 2));
        assertThat(reservation.admitted()).isTrue();

        reservation.settle(9);

        assertThat(onSmall.tryAcquire(five.charge("no room either"))).isFalse();
    }

    @Test
    void settle_byTwoThreads_settlesOnce() throws InterruptedException {
        // so many that two threads meet while they look for the open ones
        Charge[] many = IntStream.range(0, 500)
                .mapToObj(i -> TOKENS.charge("k" + i, 20))
                .toArray(Charge[]::new);
        for (int round = 0; round < 200; round++) {
            assertThat(tokens.tryAcquire("k0", 40)).isTrue();
            Reservation reservation = limiter.reserve(many);
            AtomicInteger settled = new AtomicInteger();

            Threads.run(2, 1, () -> settled.addAndGet(reservation.refund() ? 1 : 0));

            assertThat(settled).hasValue(1);
            assertThat(left("k0")).isEqualTo(60);
            store.reset(TOKENS, "k0");
        }
    }

    @Test
    void settle_keepsHeldPermits_untilTheyAreReleased() {
        Reservation reservation = limiter.reserve(TOKENS.charge("alice", 10), SLOTS.charge("alice", 2));

        assertThat(reservation.settle(50)).isTrue();
        assertThat(limiter.peek(TOKENS.charge("alice", 0), SLOTS.charge("alice", 0)))
                .hasRemaining(50, 950, 1);
        assertThat(reservation.release()).isTrue();
        assertThat(reservation.release()).isFalse();

        assertThat(limiter.peek(TOKENS.charge("alice", 0), SLOTS.charge("alice", 0)))
                .hasRemaining(50, 950, 3);
    }

    @Test
    void release_leavesTheCostOpen() {
        Reservation reservation = limiter.reserve(TOKENS.charge("alice", 10), SLOTS.charge("alice"));

        assertThat(reservation.release()).isTrue();
        assertThat(limiter.peek(TOKENS.charge("alice", 0), SLOTS.charge("alice", 0)))
                .hasRemaining(90, 990, 3);
        assertThat(reservation.refund()).isTrue();

        assertThat(limiter.peek(TOKENS.charge("alice", 0), SLOTS.charge("alice", 0)))
                .hasRemaining(100, 1000, 3);
    }

    @Test
    void commit_keepsHeldPermits_untilTheyAreRefunded() {
        Reservation reservation = limiter.reserve(TOKENS.charge("alice", 10), SLOTS.charge("alice"));

        assertThat(reservation.commit()).isTrue();
        assertThat(limiter.inspect(SLOTS, "alice").get(0).remaining()).isEqualTo(2);
        assertThat(reservation.refund()).isTrue();

        assertThat(limiter.peek(TOKENS.charge("alice", 0), SLOTS.charge("alice", 0)))
                .hasRemaining(90, 990, 3);
    }

    /** Decides once, refunds as the other store, and cannot decide afterwards. */
    private static final class OnceDecidingStore extends ForwardingStore {

        private boolean decided;

        OnceDecidingStore(RateLimitStore store) {
            super(store);
        }

        @Override
        public Decision decide(List<Charge> charges) {
            if (decided) {
                throw new StoreUnavailableException(charges.get(0).policy().name(), Duration.ofSeconds(1), "test");
            }
            decided = true;
            return super.decide(charges);
        }
    }

    @Test
    void settleAsync_lessOrMore_isAsSettle() {
        Reservation less = tokens.reserve("alice", 60);
        Reservation more = tokens.reserve("bob", 90);
        assertThat(tokens.tryAcquire("bob", 5)).isTrue();

        assertThat(less.settleAsync(25)).isCompletedWithValue(true);
        assertThat(more.settleAsync(5_000)).isCompletedWithValue(true);
        assertThat(less.settleAsync(0)).isCompletedWithValue(false);

        assertThat(left("alice")).isEqualTo(75);
        assertThat(left("bob")).isZero();
        assertThatIllegalArgumentException().isThrownBy(() -> less.settleAsync(-1));
    }

    @Test
    void settleAsync_penalty_startsNone() {
        Policy policy =
                Policy.of("penalized", TokenBucket.of(Rate.parse("100/minute"))).withPenalty(Duration.ofHours(1));
        Reservation reservation = limiter.reserve(policy.charge("alice", 10));

        assertThat(reservation.settleAsync(5_000)).isCompletedWithValue(true);
        ticker.advance(Duration.ofMinutes(1));

        assertThat(limiter.tryAcquire(policy.charge("alice"))).isTrue();
    }

    @Test
    void releaseAsync_thenRefundAsync_settlesEachChargeOnce() {
        Reservation reservation = limiter.reserve(TOKENS.charge("alice", 60), SLOTS.charge("alice", 2));

        assertThat(reservation.releaseAsync()).isCompletedWithValue(true);
        assertThat(reservation.release()).isFalse();
        assertThat(limiter.peek(TOKENS.charge("alice", 0), SLOTS.charge("alice", 0)))
                .hasRemaining(40, 940, 3);
        assertThat(reservation.refundAsync()).isCompletedWithValue(true);
        assertThat(reservation.refund()).isFalse();

        assertThat(limiter.peek(TOKENS.charge("alice", 0), SLOTS.charge("alice", 0)))
                .hasRemaining(100, 1000, 3);
    }

    /** A store whose refunds are done when the test says so. */
    private static final class LateStore extends ForwardingStore {

        private final List<CompletableFuture<@Nullable Void>> refunds = new ArrayList<>();

        LateStore(RateLimitStore store) {
            super(store);
        }

        @Override
        public CompletionStage<Decision> decideAsync(List<Charge> charges) {
            return store().decideAsync(charges);
        }

        @Override
        public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
            CompletableFuture<@Nullable Void> refunded = new CompletableFuture<>();
            refunds.add(refunded);
            return refunded;
        }
    }

    @Test
    void settleAsync_storeNotDoneYet_isSettledForOthers() {
        LateStore late = new LateStore(store);
        Reservation reservation = new RateLimiter(late, ticker).reserve(TOKENS.charge("alice", 60));

        CompletableFuture<Boolean> settled = reservation.settleAsync(20);

        assertThat(settled).isNotDone();
        assertThat(reservation.refund()).isFalse();
        assertThat(reservation.refundAsync()).isCompletedWithValue(false);
        late.refunds.get(0).complete(null);
        assertThat(settled).isCompletedWithValue(true);
        assertThat(late.refunds).hasSize(1);
    }

    @Test
    void settleAsync_oneStepFails_takesTheOthers_andFailsWithIt() {
        Policy all = Policy.of("all", TokenBucket.of(Rate.parse("500/day")));
        LateStore late = new LateStore(store);
        Reservation reservation = new RateLimiter(late, ticker)
                .reserve(TOKENS.charge("alice", 60))
                .and(new RateLimiter(late, ticker).reserve(all.charge("", 60), all.charge("b", 5)));
        RuntimeException first = new IllegalStateException("first");
        RuntimeException second = new IllegalStateException("second");

        CompletableFuture<Boolean> settled = reservation.settleAsync(20);
        late.refunds.get(0).completeExceptionally(first);
        late.refunds.get(1).completeExceptionally(second);

        assertThatThrownBy(settled::join).hasCause(first);
        assertThat(first).hasSuppressedException(second);
        assertThat(limiter.inspect(all, "b").get(0).remaining()).isEqualTo(480);
    }

    @Test
    void settleAsync_byManyThreads_settlesOnce() throws InterruptedException {
        for (int i = 0; i < 200; i++) {
            Reservation reservation = limiter.reserve(TOKENS.charge("k" + i, 50), SLOTS.charge("k" + i));
            AtomicInteger settled = new AtomicInteger();
            AtomicInteger released = new AtomicInteger();

            Threads.run(4, 1, () -> {
                settled.addAndGet(reservation.settleAsync(20).join() ? 1 : 0);
                released.addAndGet(reservation.releaseAsync().join() ? 1 : 0);
                settled.addAndGet(reservation.settle(20) ? 1 : 0);
                released.addAndGet(reservation.release() ? 1 : 0);
            });

            assertThat(settled).hasValue(1);
            assertThat(released).hasValue(1);
            assertThat(limiter.peek(TOKENS.charge("k" + i, 0), SLOTS.charge("k" + i, 0)))
                    .hasRemaining(80, 980, 3);
        }
    }

    @Test
    void settle_settledBefore_changesNothing() {
        Reservation reservation = tokens.reserve("alice", 60);
        assertThat(reservation.commit()).isTrue();

        assertThat(reservation.settle(0)).isFalse();
        assertThat(reservation.refund()).isFalse();

        assertThat(left("alice")).isEqualTo(40);
    }

    @Test
    void part_settled_leavesTheRestOpen_andIsNotSettledAgain() {
        Policy all = Policy.of("all", TokenBucket.of(Rate.parse("500/day")));
        Reservation reservation = limiter.reserve(TOKENS.charge("alice", 50), all.charge("", 10));

        assertThat(reservation.forPolicy("tokens").settle(70)).isTrue();
        assertThat(reservation.forPolicy("tokens").refund()).isFalse();
        assertThat(reservation.forPolicy("nobody").refund()).isFalse();
        assertThat(reservation.refund()).isTrue();
        assertThat(reservation.refund()).isFalse();

        assertThat(limiter.peek(TOKENS.charge("alice", 0), all.charge("", 0))).hasRemaining(30, 930, 500);
    }

    @Test
    void part_ofAPart_hasTheChargesOfBoth() {
        Policy all = Policy.of("all", TokenBucket.of(Rate.parse("500/day")));
        Reservation reservation = limiter.reserve(all.charge("a", 10), all.charge("b", 10), TOKENS.charge("b", 10));

        reservation.forPolicy("all").part(charge -> charge.key().equals("b")).refund();

        assertThat(limiter.peek(all.charge("a", 0), all.charge("b", 0), TOKENS.charge("b", 0)))
                .hasRemaining(490, 500, 90, 990);
    }

    @Test
    void settle_refused_holdsNothing() {
        Reservation reservation = tokens.reserve("alice", 101);

        assertThat(reservation.admitted()).isFalse();
        assertThat(reservation.settle(50)).isFalse();

        assertThat(left("alice")).isEqualTo(100);
    }

    @Test
    void settle_negative_isRejectedAndSettlesNothing() {
        Reservation reservation = tokens.reserve("alice", 60);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> reservation.settle(-1))
                .withMessage("actual must be at least 0 but was -1");

        assertThat(reservation.refund()).isTrue();
        assertThat(left("alice")).isEqualTo(100);
    }

    @Test
    void forPolicy_methods_areThoseOfTheLimiter() throws InterruptedException {
        assertThat(tokens.decide("alice", 40)).isAdmitted().hasRemaining(60, 960);
        assertThat(tokens.decide("alice")).isAdmitted().hasRemaining(59, 959);
        assertThat(tokens.acquire(Duration.ZERO, "alice", 9).admitted()).isTrue();
        assertThat(tokens.acquireAsync(Duration.ZERO, "alice", 50).join().refund())
                .isTrue();
        assertThat(left("alice")).isEqualTo(50);

        tokens.reset("alice");

        assertThat(left("alice")).isEqualTo(100);
    }
}
