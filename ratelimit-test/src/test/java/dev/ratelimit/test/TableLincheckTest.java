package dev.ratelimit.test;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
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
 * Keys may be added, removed and moved to other limits, and their table may grow, during any other operation: every
 * outcome is that of some sequential order.
 *
 * <p>A table starts with 8 slots and is replaced when it contains 6 keys; 5 are added before the threads start.
 */
@Tag("nightly")
class TableLincheckTest {

    private static final int CAPACITY = 2;
    private static final int KEYS = 4;

    /** Lincheck's own limit, half a minute of real time, is over early while it transforms classes on a busy machine. */
    private static final long HANGS_MILLIS = 300_000;

    /** A sequential store: the used permits of each key. */
    public static class Sequential {
        private final int[] used = new int[KEYS];

        public boolean take(int key, int permits) {
            boolean admitted = used[key] + permits <= CAPACITY;
            used[key] += admitted ? permits : 0;
            return admitted;
        }

        public boolean takeTwo(int key) {
            int other = (key + 1) % KEYS;
            boolean admitted = used[key] < CAPACITY && used[other] < CAPACITY;
            used[key] += admitted ? 1 : 0;
            used[other] += admitted ? 1 : 0;
            return admitted;
        }

        public String remaining(int key) {
            int other = (key + 1) % KEYS;
            return (CAPACITY - used[key]) + " " + (CAPACITY - used[other]);
        }

        public void refund(int key) {
            used[key] = Math.max(0, used[key] - 1);
        }

        public void reset(int key) {
            used[key] = 0;
        }

        public void sweep() {}
    }

    /** A store whose clock stands still, and whose alarm is run by an operation. */
    public static class Stopped implements Ticker, Scheduler {
        private final AtomicReference<Runnable> alarm = new AtomicReference<>();

        void ring() {
            Runnable task = alarm.getAndSet(null);
            if (task != null) {
                task.run();
            }
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

    /** Adds new keys, so that their table grows. */
    @Param(name = "key", gen = IntGen.class, conf = "0:3")
    @Param(name = "permits", gen = IntGen.class, conf = "1:2")
    public abstract static class Growing {
        private final Stopped ticker = new Stopped();
        private final InMemoryStore store =
                InMemoryStore.builder().ticker(ticker).maxKeys(100).build();
        private final Policy policy;
        private final List<Decision> admitted;

        Growing(Policy policy, List<Decision> admitted, int before) {
            this.policy = policy;
            this.admitted = admitted;
            for (int i = 0; i < before; i++) {
                store.tryCharge(policy.charge("before" + i));
            }
        }

        /** A charge of this time to each key, for a refund, whether or not it was made here. */
        static List<Decision> admitted(Policy policy) {
            InMemoryStore other =
                    InMemoryStore.builder().ticker(new Stopped()).maxKeys(100).build();
            return IntStream.range(0, KEYS)
                    .mapToObj(key -> other.decide(List.of(policy.charge("k" + key))))
                    .toList();
        }

        @Operation
        public boolean take(@Param(name = "key") int key, @Param(name = "permits") int permits) {
            return store.tryCharge(charge(key, permits));
        }

        @Operation
        public boolean takeTwo(@Param(name = "key") int key) {
            return store.tryCharge(List.of(charge(key, 1), charge((key + 1) % KEYS, 1)));
        }

        @Operation
        public String remaining(@Param(name = "key") int key) {
            Decision now = store.peek(List.of(charge(key, 0), charge((key + 1) % KEYS, 0)));
            return now.limits().get(0).remaining() + " " + now.limits().get(1).remaining();
        }

        @Operation
        public void refund(@Param(name = "key") int key) {
            store.refund(admitted.get(key));
        }

        @Operation
        public void reset(@Param(name = "key") int key) {
            store.reset(policy, "k" + key);
        }

        @Operation
        public void sweep() {
            ticker.ring();
        }

        private Charge charge(int key, int permits) {
            return policy.charge("k" + key, permits);
        }
    }

    // constants: an instance is made for each of many thousand interleavings
    private static final Policy BUCKET = Policy.of("p", TokenBucket.of(Rate.parse(CAPACITY + "/h")));
    private static final Policy WINDOW = Policy.of("p", FixedWindow.of(Rate.parse(CAPACITY + "/h")));
    private static final List<Decision> ADMITTED_BY_BUCKET = Growing.admitted(BUCKET);
    private static final List<Decision> ADMITTED_BY_WINDOW = Growing.admitted(WINDOW);

    /** States of one long, five keys before: the first new key makes the table grow. */
    public static class GrowingBuckets extends Growing {
        public GrowingBuckets() {
            super(BUCKET, ADMITTED_BY_BUCKET, 5);
        }
    }

    /** States of several longs. */
    public static class GrowingWindows extends Growing {
        public GrowingWindows() {
            super(WINDOW, ADMITTED_BY_WINDOW, 5);
        }
    }

    /** No keys before: a sweep leaves a table without slots. */
    public static class Emptied extends Growing {
        public Emptied() {
            super(BUCKET, ADMITTED_BY_BUCKET, 0);
        }
    }

    /** A sequential key that is a bucket to some callers and a window to others: its used permits. */
    public static class SequentialChange {
        private int used;

        public boolean takeOfBucket(int permits) {
            boolean admitted = used + permits <= CAPACITY;
            used += admitted ? permits : 0;
            return admitted;
        }

        public boolean takeOfWindow(int permits) {
            return takeOfBucket(permits);
        }

        public int remainingOfBucket() {
            return CAPACITY - used;
        }

        public void reset() {
            used = 0;
        }
    }

    /**
     * A token bucket that is a fixed window for others, with the same capacity: between different capacities, a change
     * there and back by another call would round the used permits up.
     */
    @Param(name = "permits", gen = IntGen.class, conf = "1:2")
    public static class Changing {
        private final Stopped ticker = new Stopped();
        private final InMemoryStore store =
                InMemoryStore.builder().ticker(ticker).maxKeys(100).build();

        /** The key has had both limits, so that its table has room for both. */
        public Changing() {
            for (Policy policy : Arrays.asList(BUCKET, WINDOW, BUCKET)) {
                store.tryCharge(policy.charge("k"));
                store.reset(policy, "k");
            }
        }

        @Operation
        public boolean takeOfBucket(@Param(name = "permits") int permits) {
            return store.tryCharge(BUCKET.charge("k", permits));
        }

        @Operation
        public boolean takeOfWindow(@Param(name = "permits") int permits) {
            return store.tryCharge(WINDOW.charge("k", permits));
        }

        @Operation
        public int remainingOfBucket() {
            return (int) store.peek(List.of(BUCKET.charge("k"))).limits().get(0).remaining();
        }

        @Operation
        public void reset() {
            store.reset(BUCKET, "k");
        }
    }

    private static <O extends Options<O, ?>> O from(O options, Class<?> sequential) {
        return options.sequentialSpecification(sequential)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(0)
                .invocationTimeout$lincheck(HANGS_MILLIS);
    }

    private static ModelCheckingOptions everyInterleaving(Class<?> sequential) {
        return from(new ModelCheckingOptions(), sequential).iterations(12).invocationsPerIteration(150);
    }

    private static StressOptions manyRuns(Class<?> sequential) {
        return from(new StressOptions(), sequential).threads(3).iterations(10).invocationsPerIteration(1_000);
    }

    @Test
    @DisplayName("B1 buckets: keys are added while others are charged, reset and swept, and their table grows")
    void growingBuckets_modelChecking() {
        everyInterleaving(Sequential.class).check(GrowingBuckets.class);
    }

    @Test
    @DisplayName("B1 windows: keys are added while others are charged, reset and swept, and their table grows")
    void growingWindows_modelChecking() {
        everyInterleaving(Sequential.class).check(GrowingWindows.class);
    }

    @Test
    @DisplayName("B4 keys are added while a sweep removes the last of them and the table")
    void emptied_modelChecking() {
        everyInterleaving(Sequential.class).check(Emptied.class);
    }

    @Test
    @DisplayName("B1 a limit that changes while it is charged keeps what was used")
    void changing_modelChecking() {
        everyInterleaving(SequentialChange.class).check(Changing.class);
    }

    @Test
    @DisplayName("B2 buckets: a growing table is linearizable on real threads, where memory order counts, too")
    void growingBuckets_stress() {
        manyRuns(Sequential.class).check(GrowingBuckets.class);
    }

    @Test
    @DisplayName("B2 a changing limit is linearizable on real threads, where memory order counts, too")
    void changing_stress() {
        manyRuns(SequentialChange.class).check(Changing.class);
    }
}
