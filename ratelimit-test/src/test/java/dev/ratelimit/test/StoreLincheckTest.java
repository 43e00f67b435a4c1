package dev.ratelimit.test;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever threads do to a store concurrently, the results are those of some sequential order: Lincheck compares every
 * outcome with those of {@link Sequential}.
 *
 * <p>There are no operations before the parallel part: they would drain the limits, and a store that counts wrong would
 * pass.
 */
@Tag("nightly")
class StoreLincheckTest {

    private static final int A = 2;
    private static final int B = 3;

    /** Lincheck's own limit, half a minute of real time, is over early while it transforms classes on a busy machine. */
    private static final long HANGS_MILLIS = 300_000;

    /** A sequential store with two budgets. */
    public static class Sequential {
        private int a;
        private int b;

        public boolean takeA(int permits) {
            boolean admitted = a + permits <= A;
            a += admitted ? permits : 0;
            return admitted;
        }

        public boolean takeBoth(int permits) {
            boolean admitted = a + permits <= A && b + permits <= B;
            a += admitted ? permits : 0;
            b += admitted ? permits : 0;
            return admitted;
        }

        public boolean takeBothYesOrNo(int permits) {
            return takeBoth(permits);
        }

        public boolean takeBothReversed(int permits) {
            return takeBoth(permits);
        }

        public long remainingOfBoth() {
            return 10L * (A - a) + (B - b);
        }

        public void refundBoth() {
            a = Math.max(0, a - 1);
            b = Math.max(0, b - 1);
        }

        public void resetB() {
            b = 0;
        }

        public void sweep() {}
    }

    /** The store with the operations that Lincheck calls. The clock stands still; an operation runs the alarm. */
    @Param(name = "permits", gen = IntGen.class, conf = "1:2")
    public abstract static class Operations implements Ticker, Scheduler {
        private final AtomicReference<Runnable> alarm = new AtomicReference<>();
        private final RateLimitStore store =
                InMemoryStore.builder().ticker(this).maxKeys(1_000).build();
        private final Policy policyA;
        private final Policy policyB;
        private final Decision admitted;

        Operations(Policy a, Policy b, Decision admitted) {
            policyA = a;
            policyB = b;
            this.admitted = admitted;
        }

        @Operation
        public boolean takeA(@Param(name = "permits") int permits) {
            return store.tryCharge(policyA.charge("k", permits));
        }

        @Operation
        public boolean takeBoth(@Param(name = "permits") int permits) {
            return store.decide(both(permits)).admitted();
        }

        @Operation
        public boolean takeBothYesOrNo(@Param(name = "permits") int permits) {
            return store.tryCharge(both(permits));
        }

        @Operation
        public boolean takeBothReversed(@Param(name = "permits") int permits) {
            return store.tryCharge(List.of(policyB.charge("k", permits), policyA.charge("k", permits)));
        }

        @Operation
        public long remainingOfBoth() {
            Decision now = store.peek(both(0));
            return 10 * now.limits().get(0).remaining() + now.limits().get(1).remaining();
        }

        @Operation
        public void refundBoth() {
            store.refund(admitted);
        }

        @Operation
        public void resetB() {
            store.reset(policyB, "k");
        }

        @Operation
        public void sweep() {
            Runnable task = alarm.getAndSet(null);
            if (task != null) {
                task.run();
            }
        }

        private List<Charge> both(long permits) {
            return List.of(policyA.charge("k", permits), policyB.charge("k", permits));
        }

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
            alarm.set(task);
            return () -> alarm.compareAndSet(task, null);
        }
    }

    // constants: an instance is made for each of many thousand interleavings
    private static final Policy BUCKET_A = Policy.of("a", TokenBucket.of(Rate.parse(A + "/h")));
    private static final Policy BUCKET_B = Policy.of("b", TokenBucket.of(Rate.parse(B + "/h")));
    private static final Policy WINDOW_A = Policy.of("a", FixedWindow.of(Rate.parse(A + "/h")));
    private static final Policy WINDOW_B = Policy.of("b", FixedWindow.of(Rate.parse(B + "/h")));

    private static final Decision ADMITTED_BY_BUCKETS = admitted(BUCKET_A, BUCKET_B);
    private static final Decision ADMITTED_BY_WINDOWS = admitted(WINDOW_A, WINDOW_B);
    private static final Decision ADMITTED_BY_BOTH = admitted(BUCKET_A, WINDOW_B);

    /** A charge of this time, for a refund, whether or not it was made to the same store. */
    private static Decision admitted(Policy a, Policy b) {
        return InMemoryStore.builder()
                .ticker(new FakeTicker(Instant.EPOCH))
                .build()
                .decide(List.of(a.charge("k"), b.charge("k")));
    }

    /** Limits whose state is one long, for which the lock is held for two stores. */
    public static class OneLong extends Operations {
        public OneLong() {
            super(BUCKET_A, BUCKET_B, ADMITTED_BY_BUCKETS);
        }
    }

    /** Limits whose state is several longs, decided under the lock. */
    public static class SeveralLongs extends Operations {
        public SeveralLongs() {
            super(WINDOW_A, WINDOW_B, ADMITTED_BY_WINDOWS);
        }
    }

    /** One of each. */
    public static class Mixed extends Operations {
        public Mixed() {
            super(BUCKET_A, WINDOW_B, ADMITTED_BY_BOTH);
        }
    }

    private static <O extends Options<O, ?>> O small(O options) {
        return options.sequentialSpecification(Sequential.class)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(0)
                .invocationTimeout$lincheck(HANGS_MILLIS);
    }

    private static ModelCheckingOptions everyInterleaving() {
        return small(new ModelCheckingOptions()).iterations(9).invocationsPerIteration(100);
    }

    private static StressOptions manyRuns() {
        return small(new StressOptions()).threads(3).iterations(10).invocationsPerIteration(1_000);
    }

    @Test
    @DisplayName("B1 one long: every interleaving of charge, refund, peek, reset and sweep is linearizable")
    void oneLong_modelChecking() {
        everyInterleaving().check(OneLong.class);
    }

    @Test
    @DisplayName("B1 several longs: every interleaving of charge, refund, peek, reset and sweep is linearizable")
    void severalLongs_modelChecking() {
        everyInterleaving().check(SeveralLongs.class);
    }

    @Test
    @DisplayName("B1 one of each: every interleaving of charge, refund, peek, reset and sweep is linearizable")
    void mixed_modelChecking() {
        everyInterleaving().check(Mixed.class);
    }

    @Test
    @DisplayName("B2 one of each: linearizable on real threads, where memory order counts, too")
    void mixed_stress() {
        manyRuns().check(Mixed.class);
    }
}
