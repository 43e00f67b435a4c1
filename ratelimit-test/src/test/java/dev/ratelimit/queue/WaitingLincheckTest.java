package dev.ratelimit.queue;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Reservation;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.queue.RateLimitQueue.Order;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuarantee;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever threads do to a reservation or to those who wait in a queue: each charge is settled once, no permit is lost,
 * and nobody waits for a permit that is free.
 *
 * <p>There are no operations before the parallel part: they would settle everything.
 */
@Tag("nightly")
class WaitingLincheckTest {

    /** Lincheck's own limit, half a minute of real time, is over early while it transforms classes on a busy machine. */
    private static final long HANGS_MILLIS = 300_000;

    /** The look whether there is enough stack is no endless recursion, and touches nothing. */
    private static final ManagedStrategyGuarantee STACK =
            forClasses(Turn.class.getName()).methods("deep").ignore();

    private static final long CAPACITY = 10;
    private static final long RESERVED = 4;

    // constants: an instance is made for each of many thousand interleavings
    private static final Policy SLOT = Policy.of("slot", Concurrency.of(1));
    private static final Policy OTHER = Policy.of("other", Concurrency.of(1));
    private static final Policy A = Policy.of("a", TokenBucket.of(Rate.parse(CAPACITY + "/h")));
    private static final Policy B = Policy.of("b", TokenBucket.of(Rate.parse(CAPACITY + "/h")));

    /** Time stands still: what is due now runs at once, everything else never. */
    private abstract static class StandingTime implements Ticker, Scheduler {

        @Override
        public long nanos() {
            return 0;
        }

        @Override
        public long epochNanos() {
            return 0;
        }

        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            if (delayNanos <= 0) {
                task.run();
            }
            return () -> {};
        }
    }

    /** Results of settling a reservation of two charges: the first one for each charge settles it. */
    public static class SettledOnce {
        private boolean a;
        private boolean b;

        public boolean settle(int actual) {
            boolean any = !a || !b;
            a = true;
            b = true;
            return any;
        }

        public boolean refund() {
            return settle(0);
        }

        public boolean commit() {
            return settle(0);
        }

        public boolean settlePart(int actual) {
            boolean open = !a;
            a = true;
            return open;
        }

        public boolean refundPart() {
            boolean open = !b;
            b = true;
            return open;
        }
    }

    /** A reservation of two charges. */
    @Param(name = "actual", gen = IntGen.class, conf = "0:8")
    public static class Settling extends StandingTime {

        private final RateLimitStore store =
                InMemoryStore.builder().ticker(this).maxKeys(1_000).build();
        private final Reservation reservation =
                Reservation.of(store, store.decide(List.of(A.charge("k", RESERVED), B.charge("k", RESERVED))));

        @Operation
        public boolean settle(@Param(name = "actual") int actual) {
            return reservation.settle(actual);
        }

        @Operation
        public boolean refund() {
            return reservation.refund();
        }

        @Operation
        public boolean commit() {
            return reservation.commit();
        }

        @Operation
        public boolean settlePart(@Param(name = "actual") int actual) {
            return reservation.forPolicy("a").settle(actual);
        }

        @Operation
        public boolean refundPart() {
            return reservation.forPolicy("b").refund();
        }

        /** A charge that is refunded twice, or settled by two, leaves more than there can be. */
        @Validate
        public void neverMoreThanTheCapacityNorLessThanTheHighestCost() {
            for (Policy policy : List.of(A, B)) {
                long left = store.peek(List.of(policy.charge("k", 0)))
                        .limits()
                        .get(0)
                        .remaining();
                if (left < CAPACITY - 8 || left > CAPACITY) {
                    throw new AssertionError(policy + " has " + left);
                }
            }
        }
    }

    /** A reservation that all settle at the same cost: it is charged exactly once. */
    public static class SettlingAlike extends StandingTime {

        private final RateLimitStore store =
                InMemoryStore.builder().ticker(this).maxKeys(1_000).build();
        private final Reservation reservation = Reservation.of(store, store.decide(List.of(A.charge("k", RESERVED))));
        private final AtomicInteger settled = new AtomicInteger();

        @Operation
        public void less() {
            settled.addAndGet(reservation.settle(1) ? 1 : 0);
        }

        @Operation
        public void more() {
            settled.addAndGet(reservation.settle(7) ? 7 : 0);
        }

        @Validate
        public void chargedIsWhatTheFirstSaid() {
            long charged = CAPACITY
                    - store.peek(List.of(A.charge("k", 0))).limits().get(0).remaining();
            if (charged != settled.get()) {
                throw new AssertionError(charged + " are charged, but " + settled + " were settled");
            }
        }
    }

    /** Callers who wait for one slot. */
    public abstract static class Slots extends StandingTime {

        private final RateLimitStore store =
                InMemoryStore.builder().ticker(this).maxKeys(1_000).build();
        private final RateLimitQueue queue;
        private final Decision held = store.decide(List.of(SLOT.charge("k")));
        private final ConcurrentLinkedQueue<CompletableFuture<Decision>> callers = new ConcurrentLinkedQueue<>();

        Slots(Order order) {
            queue = RateLimitQueue.builder(store)
                    .ticker(this)
                    .policy("slot", new Waiting(Duration.ofHours(1), 100, order))
                    .build();
            callers.add(CompletableFuture.completedFuture(held));
        }

        @Operation
        public void acquire() {
            callers.add(queue.acquire(SLOT.charge("k")));
        }

        @Operation
        public void cancel() {
            callers.stream().filter(caller -> !caller.isDone()).findFirst().ifPresent(caller -> caller.cancel(false));
        }

        @Operation
        @SuppressWarnings("CollectionUndefinedEquality") // the identical future is removed
        public void release() {
            for (CompletableFuture<Decision> caller : callers) {
                if (has(caller) && callers.remove(caller)) {
                    store.refund(caller.join());
                    queue.wake(SLOT, "k");
                    return;
                }
            }
        }

        private static boolean has(CompletableFuture<Decision> caller) {
            return caller.isDone()
                    && !caller.isCompletedExceptionally()
                    && caller.join().admitted();
        }

        @Validate
        public void everySlotIsHeldOrFree_andNobodyWaitsForAFreeOne() {
            long free = store.peek(List.of(SLOT.charge("k", 0))).limits().get(0).remaining();
            long holding = callers.stream().filter(Slots::has).count();
            long waiting = callers.stream().filter(caller -> !caller.isDone()).count();
            if (free + holding != 1 || (free > 0 && waiting > 0) || waiting != queue.waiting("slot")) {
                throw new AssertionError(free + " free, " + holding + " held, " + waiting
                        + " wait, of whom the queue knows " + queue.waiting("slot"));
            }
        }
    }

    /** The oldest caller first. */
    public static class OldestFirst extends Slots {
        public OldestFirst() {
            super(Order.OLDEST_FIRST);
        }
    }

    /** The newest caller first. */
    public static class NewestFirst extends Slots {
        public NewestFirst() {
            super(Order.NEWEST_FIRST);
        }
    }

    /** Callers who wait for one slot, and others for two, in one order or the other, who move between the lines. */
    public static class TwoSlots extends StandingTime {

        private final RateLimitStore store =
                InMemoryStore.builder().ticker(this).maxKeys(1_000).build();
        private final RateLimitQueue queue = RateLimitQueue.builder(store)
                .ticker(this)
                .policy("slot", Waiting.of(Duration.ofHours(1), 100))
                .policy("other", Waiting.of(Duration.ofHours(1), 100))
                .build();
        private final ConcurrentLinkedQueue<CompletableFuture<Decision>> callers = new ConcurrentLinkedQueue<>();
        private final ConcurrentLinkedQueue<CompletableFuture<Decision>> forBoth = new ConcurrentLinkedQueue<>();

        public TwoSlots() {
            callers.add(CompletableFuture.completedFuture(store.decide(List.of(SLOT.charge("k")))));
            forBoth.add(queue.acquire(SLOT.charge("k"), OTHER.charge("k")));
            callers.add(CompletableFuture.completedFuture(store.decide(List.of(OTHER.charge("k")))));
        }

        @Operation
        public void acquireOne() {
            callers.add(queue.acquire(OTHER.charge("k")));
        }

        @Operation
        public void acquireBoth() {
            forBoth.add(queue.acquire(OTHER.charge("k"), SLOT.charge("k")));
        }

        @Operation
        public void cancel() {
            forBoth.stream().filter(caller -> !caller.isDone()).findFirst().ifPresent(caller -> caller.cancel(false));
        }

        @Operation
        public void release() {
            release(callers);
        }

        @Operation
        public void releaseBoth() {
            release(forBoth);
        }

        @SuppressWarnings("CollectionUndefinedEquality") // the identical future is removed
        private void release(ConcurrentLinkedQueue<CompletableFuture<Decision>> holders) {
            for (CompletableFuture<Decision> caller : holders) {
                if (Slots.has(caller) && holders.remove(caller)) {
                    store.refund(caller.join());
                    caller.join().charges().forEach(charge -> queue.wake(charge.policy(), charge.key()));
                    return;
                }
            }
        }

        @Validate
        public void everySlotIsHeldOrFree_andNobodyWaitsForFreeOnes() {
            long waiting = 0;
            for (Policy policy : List.of(SLOT, OTHER)) {
                long holding = Stream.concat(callers.stream(), forBoth.stream())
                        .filter(Slots::has)
                        .filter(caller -> caller.join().charges().stream()
                                .anyMatch(charge -> charge.policy().equals(policy)))
                        .count();
                if (free(policy) + holding != 1) {
                    throw new AssertionError(policy.name() + ": " + free(policy) + " free, " + holding + " held");
                }
                waiting += queue.waiting(policy.name());
            }
            long forOther = callers.stream().filter(caller -> !caller.isDone()).count();
            long forTwo = forBoth.stream().filter(caller -> !caller.isDone()).count();
            boolean idle = free(OTHER) > 0 && (forOther > 0 || (forTwo > 0 && free(SLOT) > 0));
            if (idle || waiting != forOther + forTwo) {
                throw new AssertionError(forOther + " and " + forTwo + " wait, of whom the queue knows " + waiting
                        + "; free: " + free(OTHER) + " and " + free(SLOT));
            }
        }

        private long free(Policy policy) {
            return store.peek(List.of(policy.charge("k", 0))).limits().get(0).remaining();
        }
    }

    private static <O extends Options<O, ?>> O small(O options) {
        return options.threads(2).actorsBefore(0).actorsAfter(0).invocationTimeout$lincheck(HANGS_MILLIS);
    }

    private static ModelCheckingOptions everyInterleaving() {
        return small(new ModelCheckingOptions().addGuarantee(STACK))
                .actorsPerThread(2)
                .iterations(6)
                .invocationsPerIteration(100);
    }

    private static StressOptions manyRuns() {
        return small(new StressOptions())
                .threads(3)
                .actorsPerThread(2)
                .iterations(5)
                .invocationsPerIteration(500);
    }

    @Test
    @DisplayName("H6 refund and commit: each charge of a reservation is settled exactly once")
    void reservation_modelChecking() {
        everyInterleaving().sequentialSpecification(SettledOnce.class).check(Settling.class);
        everyInterleaving().check(SettlingAlike.class);
    }

    @Test
    @DisplayName("H6 refund and commit on real threads: each charge of a reservation is settled exactly once")
    void reservation_stress() {
        manyRuns().sequentialSpecification(SettledOnce.class).check(Settling.class);
        manyRuns().check(SettlingAlike.class);
    }

    @Test
    @DisplayName("H4 a queue: a slot is never lost, and nobody waits for a free one, whoever cancels or releases")
    void queue_modelChecking() {
        everyInterleaving().check(OldestFirst.class);
        everyInterleaving().check(NewestFirst.class);
    }

    @Test
    @DisplayName("H4 two lines: whoever moves between them is served once, and nobody waits for free slots")
    void twoLines_modelChecking() {
        everyInterleaving().iterations(4).invocationsPerIteration(50).check(TwoSlots.class);
    }

    @Test
    @DisplayName("H4 two lines on real threads: whoever moves between them is served once")
    void twoLines_stress() {
        manyRuns().check(TwoSlots.class);
    }

    @Test
    @DisplayName("H4 a queue on real threads: a slot is never lost, and nobody waits for a free one")
    void queue_stress() {
        manyRuns().check(OldestFirst.class);
        manyRuns().check(NewestFirst.class);
    }
}
