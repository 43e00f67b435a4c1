package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.Scheduler;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.faults.EveryCall;
import dev.ratelimit.faults.Fuse;
import dev.ratelimit.faults.Scenario;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whichever call of a collaborator throws: nobody waits for ever, and what is charged belongs to somebody. */
@SuppressWarnings("ReferenceEquality") // the identical decision is meant
class RateLimiterFaultsTest {

    private static final Policy WINDOW = Policy.of("window", FixedWindow.of(Rate.parse("10/10s")));
    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(4));

    /** A limiter whose collaborators may throw. */
    private abstract static class Waits implements Scenario {

        final FakeTicker ticker = new FakeTicker();
        final Charged store = new Charged(InMemoryStore.builder().ticker(ticker).build());
        final Fuse fuse;
        final RateLimiter limiter;
        final List<CompletableFuture<Reservation>> answers = new ArrayList<>();
        final List<Decision> settled = new ArrayList<>();

        Waits(Fuse fuse) {
            this.fuse = fuse;
            this.limiter =
                    new RateLimiter(fuse.on(store), fuse.onTicker(ticker), fuse.onScheduler(new AdvancingScheduler()));
        }

        /** Its sleep lets the time pass. */
        private final class AdvancingScheduler implements Scheduler {

            @Override
            public Alarm schedule(Runnable task, long delayNanos) {
                return ticker.schedule(task, delayNanos);
            }

            @Override
            public void sleep(long nanos) {
                ticker.advanceNanos(nanos);
            }
        }

        void advance(Duration time) {
            for (Duration left = time; left.compareTo(Duration.ZERO) > 0; left = left.minusMillis(500)) {
                try {
                    ticker.advance(Duration.ofMillis(500));
                } catch (IllegalStateException | OutOfMemoryError e) {
                    assertThat(EveryCall.isInjected(e)).isTrue();
                }
            }
        }

        @Override
        public void check() {
            advance(Duration.ofMinutes(2));
            assertThat(answers).as("answered").allMatch(CompletableFuture::isDone);
            if (!"refund".equals(fuse.place())) {
                assertChargesBelongToSomebody();
            }
            ticker.advance(Duration.ofMinutes(20));
            assertThat(ticker.alarms()).as("alarms, but for that of the store").isLessThanOrEqualTo(1);
            assertThat(limiter.reserve(WINDOW.charge("k", 10), SLOTS.charge("k", 4))
                            .admitted())
                    .as("a later caller")
                    .isTrue();
        }

        void assertChargesBelongToSomebody() {
            assertThat(store.charged).as("charged to nobody").allMatch(this::belongsToSomebody);
        }

        private boolean belongsToSomebody(Decision decision) {
            return settled.stream().anyMatch(one -> one == decision)
                    || answers.stream()
                            .anyMatch(answer -> !answer.isCompletedExceptionally()
                                    && answer.join().decision() == decision);
        }
    }

    /** Knows what was charged and not refunded, apart from single charges. */
    private static final class Charged extends ForwardingStore {

        private final List<Decision> charged = new ArrayList<>();

        Charged(RateLimitStore store) {
            super(store);
        }

        @Override
        public Decision decide(List<Charge> charges) {
            Decision decision = super.decide(charges);
            if (decision.admitted()) {
                charged.add(decision);
            }
            return decision;
        }

        @Override
        public void refund(Decision decision, List<Charge> part) {
            super.refund(decision, part);
            charged.removeIf(one -> one == decision);
        }

        @Override
        public CompletionStage<Decision> decideAsync(List<Charge> charges) {
            return CompletableFuture.completedFuture(decide(charges));
        }

        @Override
        public CompletionStage<Decision> peekAsync(List<Charge> charges) {
            return store().peekAsync(charges);
        }

        @Override
        public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
            refund(decision, part);
            return CompletableFuture.completedFuture(null);
        }
    }

    private static final class Asynchronous extends Waits {

        Asynchronous(Fuse fuse) {
            super(fuse);
        }

        @Override
        public void run() {
            for (int i = 0; i < 5; i++) {
                answers.add(limiter.acquireAsync(Duration.ofSeconds(15), WINDOW.charge("k", 4)));
            }
            answers.get(3).cancel(false);
            answers.add(limiter.acquireAsync(Duration.ofSeconds(5), WINDOW.charge("k", 4)));
            CompletableFuture<Boolean> unused = answers.get(0).thenCompose(Reservation::refundAsync);
            advance(Duration.ofSeconds(30));
        }
    }

    private static final class Blocking extends Waits {

        Blocking(Fuse fuse) {
            super(fuse);
        }

        @Override
        public void run() throws InterruptedException {
            for (int i = 0; i < 4; i++) {
                settled.add(limiter.acquire(Duration.ofSeconds(15), WINDOW.charge("k", 6))
                        .decision());
            }
        }
    }

    /** As {@link Settling}, without blocking. */
    private static final class SettlingLater extends Settling {

        SettlingLater(Fuse fuse) {
            super(fuse);
        }

        @Override
        void settle(Reservation reservation) {
            outcome(reservation.settleAsync(20));
        }

        @Override
        void release(Reservation reservation) {
            outcome(reservation.releaseAsync());
        }

        private static void outcome(CompletableFuture<Boolean> over) {
            assertThat(over).isDone();
            assertThat(over.handle((any, failure) -> failure == null || EveryCall.isInjected(failure)))
                    .isCompletedWithValue(true);
        }
    }

    /** Both are settled whatever the other one's store throws: nothing stays held, and nothing is charged twice. */
    private static class Settling extends Waits {

        private static final Policy DAY = Policy.of("day", FixedWindow.of(Rate.parse("100/day")));

        Settling(Fuse fuse) {
            super(fuse);
        }

        @Override
        public void run() {
            Reservation less = limiter.reserve(DAY.charge("a", 10), SLOTS.charge("a"));
            settled.add(less.decision());
            try {
                Reservation more = limiter.reserve(DAY.charge("b", 10));
                settled.add(more.decision());
                settle(less.and(more));
            } finally {
                release(less);
            }
        }

        void settle(Reservation reservation) {
            reservation.settle(20);
        }

        void release(Reservation reservation) {
            reservation.release();
        }

        @Override
        void assertChargesBelongToSomebody() {
            assertThat(left(SLOTS, "a")).isEqualTo(4);
            for (String key : List.of("a", "b")) {
                assertThat(left(DAY, key)).isIn(80L, 90L, 100L);
            }
        }

        private long left(Policy policy, String key) {
            return store.peek(List.of(policy.charge(key, 0))).limits().get(0).remaining();
        }
    }

    @Test
    void acquireAsync_anyCollaboratorThrows_nobodyWaitsForEver() {
        assertThat(EveryCall.throwsOnce(Asynchronous::new)).isGreaterThan(20);
    }

    @Test
    void acquire_anyCollaboratorThrows_chargesNobody() {
        assertThat(EveryCall.throwsOnce(Blocking::new)).isGreaterThan(10);
    }

    @Test
    void settle_anyCollaboratorThrows_releasesAndChargesOnce() {
        assertThat(EveryCall.throwsOnce(Settling::new)).isGreaterThan(4);
    }

    @Test
    void settleAsync_anyCollaboratorThrows_releasesAndChargesOnce() {
        assertThat(EveryCall.throwsOnce(SettlingLater::new)).isGreaterThan(4);
    }
}
