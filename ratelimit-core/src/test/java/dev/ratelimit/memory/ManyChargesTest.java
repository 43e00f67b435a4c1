package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Seeds;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import java.util.AbstractList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls with many charges of new or known keys. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ManyChargesTest {

    private static final LimitAlgorithm BUCKET = TokenBucket.of(Rate.parse("3/hour"));
    private static final LimitAlgorithm WINDOW = FixedWindow.of(Rate.parse("3/hour"));
    private static final LimitAlgorithm LOG = SlidingLog.of(Rate.parse("3/hour"));

    private final SetTicker ticker = new SetTicker();

    private InMemoryStore store(int maxKeys) {
        return InMemoryStore.builder().ticker(ticker).maxKeys(maxKeys).build();
    }

    private static List<Charge> charges(Policy policy, String prefix, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> policy.charge(prefix + i))
                .toList();
    }

    @Test
    void tryCharge_listThatChanges_chargesOneBudgetUnderAllLimits() {
        InMemoryStore store = store(100);
        Policy policy = Policy.of("p", BUCKET, WINDOW, BUCKET);
        List<Charge> both = List.of(policy.charge("x"), policy.charge("y"));
        assertThat(store.tryCharge(both)).isTrue();
        AtomicInteger readings = new AtomicInteger();
        List<Charge> changing = new AbstractList<>() {
            @Override
            public Charge get(int index) {
                return both.get(readings.getAndIncrement() % 2);
            }

            @Override
            public int size() {
                return 1;
            }
        };

        assertThat(store.tryCharge(changing)).isTrue();

        assertThat(store.peek(both).limits())
                .extracting(LimitStatus::remaining)
                .containsExactly(1L, 1L, 1L, 2L, 2L, 2L);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 6, 7, 8, 20, 49, 50, 51, 1_000, 8_191, 8_192, 20_000})
    @DisplayName("D2 new keys of one call do not evict each other: each is charged, alone or in the overflow")
    void decide_newKeys_chargesEach(int maxKeys) {
        for (Policy policy : List.of(Policy.of("p", BUCKET), Policy.of("p", WINDOW, LOG))) {
            for (int count = 1; count <= 50; count++) {
                InMemoryStore store = store(maxKeys);
                int places = Math.min(count, maxKeys);

                // keys without room share three permits
                boolean admitted = store.decide(charges(policy, "k", count)).admitted();

                assertThat(admitted).isEqualTo(count - places <= 3);
                assertThat(store.tryCharge(charges(policy, "k", Math.min(places, 8))))
                        .isTrue();
                assertThat(store.keys("p"))
                        .isLessThanOrEqualTo((long) policy.limits().size() * maxKeys);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"300, 1000000", "300, 400", "300, 20000", "3000, 100000"})
    void decide_manyKeysOfSeveralLimits_areAllCharged(int count, int maxKeys) {
        InMemoryStore store = store(maxKeys);
        Policy policy = Policy.of("p", BUCKET, WINDOW);
        List<Charge> charges = charges(policy, "k", count);

        assertThat(store.decide(charges).admitted()).isTrue();
        assertThat(store.tryCharge(charges)).isTrue();
        assertThat(store.tryCharge(charges)).isTrue();
        assertThat(store.tryCharge(charges)).isFalse();
        assertThat(store.keys("p")).isEqualTo(2L * count);
        assertThat(store.peek(charges).limits()).allMatch(status -> status.remaining() == 0);
    }

    @Test
    @DisplayName("D2 threads that add many keys at once to a small store all get decisions, and no second budget")
    void tryCharge_manyNewKeysByManyThreads_answers() throws InterruptedException {
        InMemoryStore store = store(20);
        Policy policy = Policy.of("p", BUCKET);
        AtomicInteger admitted = new AtomicInteger();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        long seed = Seeds.next();
        List<Thread> threads = IntStream.range(0, 4)
                .mapToObj(thread -> new Thread(() -> {
                    Random random = new Random(seed + thread);
                    for (int i = 0; i < 200; i++) {
                        int from = random.nextInt(1_000);
                        admitted.addAndGet(store.tryCharge(charges(policy, thread + "-" + from + "-", 15)) ? 1 : 0);
                    }
                }))
                .toList();
        threads.forEach(thread -> thread.setUncaughtExceptionHandler((of, thrown) -> failure.set(thrown)));

        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(failure).as("seed %s", seed).hasValue(null);
        assertThat(admitted.get()).as("seed %s", seed).isPositive();
        assertThat(store.keys("p")).as("seed %s", seed).isLessThanOrEqualTo(20);
    }

    @ParameterizedTest
    @ValueSource(ints = {1_000, 5_000, 30_000})
    @DisplayName("a new key among many kept ones gives up soon, otherwise the call would take quadratic time")
    void add_otherKeysAreKept_looksAtAFewOnly(int maxKeys) {
        Keyspace keys = new Keyspace(maxKeys, new StoreClock(ticker));
        for (int i = 0; i < maxKeys; i++) {
            keys.tryCharge("k" + i, BUCKET, 3);
        }
        AtomicInteger asked = new AtomicInteger();

        boolean added = keys.add(KeyHash.of("new"), BUCKET, hash -> asked.incrementAndGet() > 0);

        assertThat(added).isFalse();
        assertThat(asked.get()).isBetween(1, 300);
    }

    @Test
    @DisplayName("a call of many charges of known keys takes no more stack than a call of a few")
    void tryCharge_manyKnownKeys_takesLittleStack() throws InterruptedException {
        InMemoryStore store = store(100_000);
        List<Charge> charges = charges(Policy.of("p", BUCKET), "k", 20_000);
        charges.forEach(store::tryCharge);
        AtomicReference<Object> result = new AtomicReference<>();
        Thread small = new Thread(null, () -> result.set(store.tryCharge(charges)), "small", 200_000);
        small.setUncaughtExceptionHandler((thread, thrown) -> result.set(thrown));

        small.start();
        small.join();

        assertThat(result.get()).isEqualTo(true);
    }

    @Test
    @DisplayName("the memory of a call of many charges is not kept for the next call")
    void giveBack_largeTransaction_isNotKept() {
        TransactionPool transactions = new TransactionPool(new StoreClock(ticker));
        Transaction large = transactions.take();
        Keyspace keys = new Keyspace(100, new StoreClock(ticker));
        for (Charge charge : charges(Policy.of("p", BUCKET), "k", 100)) {
            large.add(charge, List.of(keys));
        }

        transactions.giveBack(large);

        assertThat(transactions.take()).isNotSameAs(large);
    }
}
