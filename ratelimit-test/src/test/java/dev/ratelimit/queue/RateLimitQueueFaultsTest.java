package dev.ratelimit.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.FailingScheduler;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.faults.EveryCall;
import dev.ratelimit.faults.Fuse;
import dev.ratelimit.faults.Scenario;
import dev.ratelimit.faults.Starvation;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.queue.RateLimitQueue.Order;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whichever call of a collaborator throws: nobody is stuck, no permit is lost, and everybody is answered. */
@SuppressWarnings({
    "FutureReturnValueIgnored", // collected by ask()
    "CollectionUndefinedEquality", // the identical future and decision are meant
    "ReferenceEquality"
})
class RateLimitQueueFaultsTest {

    private static final Policy RATE = Policy.of("rate", TokenBucket.of(Rate.parse("1/second")));
    private static final Policy SLOW = Policy.of("slow", FixedWindow.of(Rate.parse("1/10s")));
    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(1));

    /** Callers of a queue whose collaborators may throw. */
    abstract static class Callers implements Scenario {

        private static final Duration LONG = Duration.ofMinutes(20);
        private static final int STEP_MILLIS = 50;

        private final FakeTicker ticker = new FakeTicker();
        private final Tally store =
                new Tally(InMemoryStore.builder().ticker(ticker).maxKeys(1_000).build());
        private final List<CompletableFuture<Decision>> answers = new ArrayList<>();
        private final List<CompletableFuture<Decision>> released = new ArrayList<>();
        private final Fuse fuse;
        private final RateLimitQueue queue;

        Callers(Fuse fuse, Order order, Executor executor) {
            this.fuse = fuse;
            this.queue = RateLimitQueue.builder(fuse.on(store))
                    .ticker(fuse.onTicker(ticker))
                    .scheduler(fuse.onScheduler(new FailingScheduler(ticker, executor)))
                    .policy("rate", new Waiting(Duration.ofSeconds(4), 3, order))
                    .policy("slow", new Waiting(Duration.ofSeconds(20), 2, order))
                    .policy("slots", new Waiting(Duration.ofSeconds(3), 4, order))
                    .build();
        }

        CompletableFuture<Decision> ask(Charge... charges) {
            CompletableFuture<Decision> answer = queue.acquire(charges);
            answers.add(answer);
            return answer;
        }

        /** What an alarm throws ends a turn of the clock, but time goes on. */
        void advance(long millis) {
            for (long passed = 0; passed < millis; passed += STEP_MILLIS) {
                ignoringFaults(() -> ticker.advance(Duration.ofMillis(STEP_MILLIS)));
            }
        }

        static void ignoringFaults(Runnable action) {
            try {
                action.run();
            } catch (IllegalStateException | OutOfMemoryError e) {
                assertThat(EveryCall.isInjected(e)).isTrue();
            }
        }

        void cancel(CompletableFuture<Decision> answer) {
            ignoringFaults(() -> answer.cancel(false));
        }

        /** Does something the next time the store has decided. */
        void onDecide(Runnable action) {
            store.afterDecide = action;
        }

        void wake(Policy policy) {
            ignoringFaults(() -> queue.wake(policy, "k"));
        }

        void wakeAll() {
            ignoringFaults(() -> queue.wake("slots"));
        }

        void close() {
            ignoringFaults(queue::close);
        }

        /** Returns the permits of a caller. */
        void release(CompletableFuture<Decision> holder) {
            if (admitted(holder) && !released.contains(holder)) {
                released.add(holder);
                store.refund(holder.join());
                ignoringFaults(() -> holder.join().charges().forEach(one -> queue.wake(one.policy(), one.key())));
            }
        }

        static boolean admitted(CompletableFuture<Decision> answer) {
            return answer.isDone()
                    && !answer.isCompletedExceptionally()
                    && answer.join().admitted();
        }

        @Override
        public void check() {
            for (int i = 0; i < 20; i++) {
                List.copyOf(answers).forEach(this::release);
                advance(10_000);
            }
            assertThat(answers).as("answered").allMatch(CompletableFuture::isDone);
            for (String policy : List.of("rate", "slow", "slots")) {
                assertThat(queue.waiting(policy)).as("waiting for " + policy).isZero();
            }
            if (!"refund".equals(fuse.place())) {
                assertThat(store.admitted)
                        .as("what was charged and not refunded")
                        .allMatch(decision ->
                                answers.stream().anyMatch(answer -> admitted(answer) && answer.join() == decision));
            }
            ticker.advance(LONG);
            assertLaterCallersAreServed();
        }

        private void assertLaterCallersAreServed() {
            for (String key : List.of("k", "other")) {
                for (Policy policy : List.of(RATE, SLOW, SLOTS)) {
                    CompletableFuture<Decision> first = queue.acquire(policy.charge(key));
                    assertThat(first)
                            .as("a later caller")
                            .satisfies(one -> assertThat(admitted(one)).isTrue());
                    CompletableFuture<Decision> second = queue.acquire(policy.charge(key));
                    advance(2_000);
                    store.refund(first.join());
                    queue.wake(policy, key);
                    advance(10_000);
                    assertThat(admitted(second)).as("a caller behind").isEqualTo(!closes());
                    if (!closes()) {
                        store.refund(second.join());
                    }
                }
            }
            ticker.advance(LONG);
            assertThat(ticker.alarms()).as("alarms, but for that of the store").isLessThanOrEqualTo(1);
        }

        boolean closes() {
            return false;
        }
    }

    /** Knows what was admitted and not refunded. */
    static final class Tally extends ForwardingStore {

        private final List<Decision> admitted = new ArrayList<>();
        private Runnable afterDecide = () -> {};

        Tally(RateLimitStore store) {
            super(store);
        }

        @Override
        public Decision decide(List<Charge> charges) {
            Decision decision = super.decide(charges);
            if (decision.admitted()) {
                admitted.add(decision);
            }
            Runnable action = afterDecide;
            afterDecide = () -> {};
            action.run();
            return decision;
        }

        @Override
        public void refund(Decision decision, List<Charge> part) {
            super.refund(decision, part);
            admitted.removeIf(one -> one == decision);
        }
    }

    /** A line that is served, left and overcrowded. */
    static class OneLine extends Callers {

        OneLine(Fuse fuse) {
            this(fuse, Order.OLDEST_FIRST, Runnable::run);
        }

        OneLine(Fuse fuse, Order order, Executor executor) {
            super(fuse, order, executor);
        }

        @Override
        public void run() {
            ask(RATE.charge("k"));
            CompletableFuture<Decision> head = ask(RATE.charge("k"));
            ask(RATE.charge("k"));
            CompletableFuture<Decision> last = ask(RATE.charge("k"));
            ask(RATE.charge("other"));
            ask(RATE.charge("other"));
            advance(500);
            cancel(head);
            advance(1_000);
            cancel(last);
            ask(RATE.charge("k"));
            ask(RATE.charge("k"), SLOW.charge("k"));
            advance(6_000);
        }
    }

    /** The same, newest first. */
    static class NewestFirst extends OneLine {
        NewestFirst(Fuse fuse) {
            super(fuse, Order.NEWEST_FIRST, Runnable::run);
        }
    }

    /** The same, with an executor that runs each task twice, one after another. */
    static class Twice extends OneLine {
        Twice(Fuse fuse) {
            super(fuse, Order.OLDEST_FIRST, task -> {
                task.run();
                task.run();
            });
        }
    }

    /** Those who wait for one budget, and then for another, where there is little room. */
    static class Moving extends Callers {

        Moving(Fuse fuse) {
            super(fuse, Order.OLDEST_FIRST, Runnable::run);
        }

        @Override
        public void run() {
            ask(RATE.charge("k"));
            ask(RATE.charge("other"));
            for (String key : List.of("k", "other", "k", "other")) {
                ask(RATE.charge(key), SLOW.charge("k"));
            }
            ask(SLOW.charge("k"));
            advance(1_500);
            ask(SLOW.charge("other"));
            ask(SLOW.charge("other"));
            advance(15_000);
        }
    }

    /** Those who wait for permits that others return. */
    static class Slots extends Callers {

        Slots(Fuse fuse) {
            super(fuse, Order.OLDEST_FIRST, Runnable::run);
        }

        @Override
        public void run() {
            CompletableFuture<Decision> holder = ask(SLOTS.charge("k"));
            CompletableFuture<Decision> second = ask(SLOTS.charge("k"));
            // its dependents use the queue, too
            CompletableFuture<Void> unused = second.thenAccept(decision -> {
                release(second);
                ask(SLOTS.charge("k"));
            });
            CompletableFuture<Decision> third = ask(SLOTS.charge("k"));
            advance(1_200);
            release(holder);
            wakeAll();
            cancel(third);
            wake(SLOTS);
            advance(2_000);
        }
    }

    /** A caller who leaves while the store is asked for it. */
    static class Leaving extends Callers {

        Leaving(Fuse fuse) {
            super(fuse, Order.OLDEST_FIRST, Runnable::run);
        }

        @Override
        public void run() {
            CompletableFuture<Decision> holder = ask(SLOTS.charge("k"));
            CompletableFuture<Decision> leaving = ask(SLOTS.charge("k"));
            ask(SLOTS.charge("k"));
            onDecide(() -> cancel(leaving));
            release(holder);
            advance(2_000);
        }
    }

    /** Everybody is sent away. */
    static class Closing extends Callers {

        Closing(Fuse fuse) {
            super(fuse, Order.OLDEST_FIRST, Runnable::run);
        }

        @Override
        public void run() {
            ask(RATE.charge("k"));
            ask(RATE.charge("k"));
            ask(RATE.charge("k"));
            ask(SLOTS.charge("k"));
            ask(SLOTS.charge("k"));
            close();
            ask(RATE.charge("k"));
            advance(5_000);
        }

        @Override
        boolean closes() {
            return true;
        }

        @Override
        public void check() {
            close();
            super.check();
        }
    }

    static Stream<Class<? extends Callers>> scenarios() {
        return Stream.of(
                OneLine.class, NewestFirst.class, Twice.class, Moving.class, Slots.class, Leaving.class, Closing.class);
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void anyCollaborator_throws_nobodyIsStuck(Class<? extends Callers> scenario) {
        int calls = EveryCall.throwsOnce(scenario);

        assertThat(calls).isGreaterThan(20);
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void memory_ends_nobodyIsStuck(Class<? extends Callers> scenario) {
        int calls = EveryCall.throwsOnce(Starvation.of(scenario));

        assertThat(calls).isGreaterThan(60);
    }
}
