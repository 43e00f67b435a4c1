package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Counts while many threads add keys, and tables grow, shrink, are full or get other limits. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class TableLoadTest {

    private static final int THREADS = 8;
    private static final int CAPACITY = 2;

    /** A clock without a lock, and alarms that one of the test's threads runs. */
    private static final class SetTicker implements Ticker, Scheduler {
        private final AtomicLong nanos = new AtomicLong();
        private final ConcurrentLinkedQueue<Runnable> alarms = new ConcurrentLinkedQueue<>();

        void ring() {
            Runnable alarm = alarms.poll();
            if (alarm != null) {
                alarm.run();
            }
        }

        @Override
        public long nanos() {
            return nanos.get();
        }

        @Override
        public long epochNanos() {
            return nanos.get();
        }

        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            alarms.add(task);
            return () -> alarms.remove(task);
        }
    }

    private final SetTicker ticker = new SetTicker();

    private InMemoryStore store(int maxKeys) {
        return InMemoryStore.builder().ticker(ticker).maxKeys(maxKeys).build();
    }

    private static String[] names(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + i).toArray(String[]::new);
    }

    /** Each key is charged once by each thread, by two of them at about the same time, in their own order. */
    private static AtomicIntegerArray chargeAll(InMemoryStore store, String[] keys, Limit[] limits)
            throws InterruptedException {
        Policy[] policies =
                Stream.of(limits).map(limit -> Policy.of("p", limit)).toArray(Policy[]::new);
        AtomicIntegerArray admitted = new AtomicIntegerArray(keys.length);
        AtomicInteger threads = new AtomicInteger();
        Threads.run(THREADS, 1, () -> {
            int thread = threads.getAndIncrement();
            int first = thread / 2 * (keys.length / THREADS);
            for (int i = 0; i < keys.length; i++) {
                int key = (first + i) % keys.length;
                Policy policy = policies[(key + i + thread) % policies.length];
                admitted.addAndGet(key, store.tryCharge(policy.charge(keys[key])) ? 1 : 0);
            }
        });
        return admitted;
    }

    private static IntStream stream(AtomicIntegerArray counts) {
        return IntStream.range(0, counts.length()).map(counts::get);
    }

    static Stream<Limit> limits() {
        Rate rate = Rate.parse(CAPACITY + "/hour");
        return Stream.of(TokenBucket.of(rate), SlidingWindow.of(rate), SlidingLog.of(rate));
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("B1 8 threads add the same 200,000 keys: each is admitted exactly to its capacity, while tables grow")
    void tryCharge_sameNewKeysByAll_admitsExactlyTheCapacityOfEach(Limit limit) throws InterruptedException {
        InMemoryStore store = store(1_000_000);
        String[] keys = names("k", 200_000);

        AtomicIntegerArray admitted = chargeAll(store, keys, new Limit[] {limit});

        assertThat(stream(admitted).allMatch(count -> count == CAPACITY)).isTrue();
        assertThat(store.keys("p")).isEqualTo(keys.length);
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("D2 exactly max-keys keys all keep their budgets")
    void tryCharge_maxKeys_evictsNone(Limit limit) throws InterruptedException {
        for (int most : new int[] {1, 3, 100, 9_000}) {
            InMemoryStore store = store(most);

            AtomicIntegerArray admitted = chargeAll(store, names("k", most), new Limit[] {limit});

            assertThat(stream(admitted).allMatch(count -> count == CAPACITY)).isTrue();
            assertThat(store.keys("p")).isEqualTo(most);
            assertThat(store.evictedActive("p")).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("B4 sweeps remove new keys that are not charged yet: still each is admitted exactly")
    void tryCharge_sweptAllTheWhile_admitsExactlyTheCapacityOfEach(Limit limit) throws InterruptedException {
        InMemoryStore store = store(100_000);
        String[] keys = names("k", 50_000);

        AtomicIntegerArray admitted = whileAnother(ticker::ring, () -> chargeAll(store, keys, new Limit[] {limit}));

        assertThat(stream(admitted).allMatch(count -> count == CAPACITY)).isTrue();
        assertThat(store.keys("p")).isEqualTo(keys.length);
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName(
            "B4 keys that became full are swept while they are charged: each is admitted exactly to its capacity again")
    void tryCharge_sweptWhenFullAgain_admitsExactlyWhatCameBack(Limit limit) throws InterruptedException {
        InMemoryStore store = store(10_000);
        String[] keys = names("k", 200);
        AtomicIntegerArray admitted = new AtomicIntegerArray(keys.length);
        long step = TimeUnit.HOURS.toNanos(1);
        int hours = 0;

        // 20 hours, and more if the sweeps have been too late for all of them
        while (hours < 20 || store.evictedFull("p") == 0) {
            hours++;
            // everything was charged at least an hour ago: keys are full again, and are removed while they are charged
            ticker.nanos.addAndGet(2 * step);
            AtomicIntegerArray now = whileAnother(ticker::ring, () -> chargeAll(store, keys, new Limit[] {limit}));
            IntStream.range(0, keys.length).forEach(i -> admitted.addAndGet(i, now.get(i)));
        }

        int expected = hours * CAPACITY;
        assertThat(stream(admitted).allMatch(count -> count == expected)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("B4 time advances during charges and sweeps: never more than the capacity and the refill")
    void tryCharge_timeMovesMeanwhile_admitsAtMostTheBound(Limit limit) throws InterruptedException {
        InMemoryStore store = store(10_000);
        String[] keys = names("k", 4);
        long step = TimeUnit.MINUTES.toNanos(1);

        for (int round = 0; round < 60; round++) {
            long start = ticker.nanos.get();
            AtomicIntegerArray admitted = whileAnother(
                    () -> {
                        if (ticker.nanos.get() - start < 120 * step) {
                            ticker.nanos.addAndGet(step);
                        }
                        ticker.ring();
                    },
                    () -> chargeAll(store, keys, new Limit[] {limit}));
            // two hours: the capacity, and the rate of two hours
            assertThat(stream(admitted).max().orElseThrow()).isLessThanOrEqualTo(3 * CAPACITY);
        }
    }

    @Test
    @DisplayName(
            "A14 limits of one, two, more and growing longs in turns, on each key: exactly the capacity they share")
    void tryCharge_limitsChangeAllTheWhile_admitsExactlyTheCapacityOfEach() throws InterruptedException {
        Rate rate = Rate.parse(CAPACITY + "/hour");
        Limit[] limits = {
            TokenBucket.of(rate),
            FixedWindow.of(rate),
            SlidingLog.of(rate),
            TokenBucket.of(Rate.parse("67/second"), CAPACITY),
            TokenBucket.of(rate, CAPACITY, TokenBucket.Refill.INTERVAL)
        };
        InMemoryStore store = store(100_000);
        String[] keys = names("k", 20_000);

        AtomicIntegerArray admitted = chargeAll(store, keys, limits);

        assertThat(stream(admitted).allMatch(count -> count == CAPACITY)).isTrue();
        assertThat(store.keys("p")).isEqualTo(keys.length);
    }

    @Test
    @DisplayName("A14 more limits in turns than a table can name: exactly the capacity they share")
    void tryCharge_moreLimitsThanATableCanName_admitsExactlyTheCapacityOfEach() throws InterruptedException {
        Limit[] limits = IntStream.range(1, 13)
                .mapToObj(hours -> Rate.parse(CAPACITY + "/" + hours + "h"))
                .map(rate -> rate.periodNanos() % 2 == 0 ? TokenBucket.of(rate) : FixedWindow.of(rate))
                .toArray(Limit[]::new);
        InMemoryStore store = store(1_000);
        String[] keys = names("k", 60);

        for (int round = 0; round < 10; round++) {
            AtomicIntegerArray admitted = chargeAll(store, names(round + "k", keys.length), limits);
            assertThat(stream(admitted).allMatch(count -> count == CAPACITY)).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName(
            "D2 a flood in many segments, by single charges and by transactions: exhausted keys stay, and the bound holds")
    void flood_ofSegments_staysWithinMaxKeys_andLeavesExhaustedKeysExhausted(Limit limit) throws InterruptedException {
        int most = 9_000;
        InMemoryStore store = store(most);
        Policy policy = Policy.of("p", limit);
        String[] victims = names("victim", most / 2);
        Stream.of(victims).forEach(key -> store.tryCharge(policy.charge(key, CAPACITY)));
        AtomicInteger next = new AtomicInteger();
        AtomicLong maxKeys = new AtomicLong();
        AtomicInteger regained = new AtomicInteger();

        Threads.run(THREADS, 15_000, () -> {
            int i = next.getAndIncrement();
            store.tryCharge(policy.charge("flood" + i));
            store.decide(List.of(policy.charge("a" + i), policy.charge("b" + i)));
            regained.addAndGet(store.tryCharge(policy.charge(victims[i % victims.length])) ? 1 : 0);
            maxKeys.accumulateAndGet(store.keys("p"), Math::max);
        });

        assertThat(regained).hasValue(0);
        assertThat(maxKeys.get()).isLessThanOrEqualTo(most);
        assertThat(store.evictedActive("p")).isPositive();
    }

    private interface Work {
        AtomicIntegerArray run() throws InterruptedException;
    }

    /** Does the work while another thread repeats the task. */
    private static AtomicIntegerArray whileAnother(Runnable task, Work work) throws InterruptedException {
        Thread another = new Thread(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                task.run();
            }
        });
        another.start();
        try {
            return work.run();
        } finally {
            another.interrupt();
            another.join();
        }
    }
}
