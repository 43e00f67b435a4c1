package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rare races, each forced into an order in which something could go wrong. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InterleavingsTest {

    private static final long HOUR = Duration.ofHours(1).toNanos();
    private static final LimitAlgorithm BUCKET = TokenBucket.of(Rate.parse("2/hour"));

    private final SetTicker ticker = new SetTicker();
    private final StoreClock clock = new StoreClock(ticker);

    private InMemoryStore store(int maxKeys) {
        return InMemoryStore.builder().ticker(ticker).maxKeys(maxKeys).build();
    }

    /** A limit that runs an action when these methods are called for the first time; equal to the wrapped limit. */
    private static LimitAlgorithm watched(LimitAlgorithm limit, Map<String, Runnable> tasks) {
        Map<String, Runnable> left = new ConcurrentHashMap<>(tasks);
        return (LimitAlgorithm) Proxy.newProxyInstance(
                LimitAlgorithm.class.getClassLoader(),
                new Class<?>[] {LimitAlgorithm.class},
                (proxy, method, arguments) -> {
                    Runnable task = left.remove(method.getName());
                    if (task != null) {
                        task.run();
                    }
                    return method.invoke(limit, arguments);
                });
    }

    @SuppressWarnings("ThreadPriorityCheck") // it waits for another thread's state
    private static void awaitBlockedOrDone(Thread thread) {
        while (thread.getState() != Thread.State.TIMED_WAITING && thread.getState() != Thread.State.TERMINATED) {
            Thread.yield();
        }
    }

    @Test
    @DisplayName("D2 of two threads that add the last possible key, neither evicts another key")
    void tryCharge_sameKeyTakesTheLastPlace_pushesNobodyOut() throws InterruptedException {
        Keyspace keys = new Keyspace(2, clock);
        keys.tryCharge("other", BUCKET, 1);
        Thread second = new Thread(() -> keys.tryCharge("new", BUCKET, 1));
        ticker.whenReadNext(() -> {
            second.start();
            awaitBlockedOrDone(second);
        });

        keys.tryCharge("new", BUCKET, 1);
        second.join();

        assertThat(keys.evictedActiveCount()).isZero();
        assertThat(keys.size()).isEqualTo(2);
        assertThat(keys.tryCharge("other", BUCKET, 2)).isEqualTo(Outcome.REFUSED);
        assertThat(keys.tryCharge("new", BUCKET, 1)).isEqualTo(Outcome.REFUSED);
    }

    @Test
    @DisplayName("D3 keys without room, under two limits in one call, share a budget and do not wait forever")
    void decide_twoLimitsOfOnePolicyInTheOverflow_answers() {
        InMemoryStore store = store(1);
        Policy one = Policy.of("p", TokenBucket.of(Rate.parse("2/hour")));
        Policy other = Policy.of("p", TokenBucket.of(Rate.parse("3/hour")));
        store.tryCharge(one.charge("exhausted", 2));

        boolean admitted = assertTimeoutPreemptively(
                Duration.ofMinutes(1),
                () -> store.decide(List.of(one.charge("x"), other.charge("y"))).admitted());

        assertThat(admitted).isTrue();
        assertThat(store.tryCharge(one.charge("z", 2))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 20})
    @DisplayName("D3 new keys in one call do not evict each other forever when the table is full")
    void decide_newKeysInAFullTable_answers(int maxKeys) {
        InMemoryStore store = store(maxKeys);
        Policy policy = Policy.of("p", BUCKET);
        IntStream.range(0, maxKeys).forEach(i -> store.tryCharge(policy.charge("used" + i)));

        boolean admitted = assertTimeoutPreemptively(
                Duration.ofMinutes(1),
                () -> store.decide(List.of(policy.charge("x"), policy.charge("y")))
                        .admitted());

        assertThat(admitted).isTrue();
        assertThat(store.evictedActive("p")).isEqualTo(Math.min(maxKeys, 2));
        assertThat(store.keys("p")).isEqualTo(maxKeys);
        assertThat(store.tryCharge(policy.charge("x", 2))).isFalse();
    }

    @Test
    @DisplayName("B1 a charge of two limits is not refused because of a time before another thread read the state")
    void tryCharge_timePassesBetweenTwoLimits_isNotRefusedByTheFormer() {
        InMemoryStore store = store(10);
        Policy global = Policy.of("global", BUCKET);
        store.tryCharge(List.of(global.charge("", 2), Policy.of("user", BUCKET).charge("k")));
        Policy user = Policy.of("user", watched(BUCKET, Map.of("tryCharge", () -> ticker.advance(HOUR))));

        assertThat(store.tryCharge(List.of(global.charge("", 2), user.charge("k"))))
                .isTrue();
    }

    @Test
    @DisplayName("D1 a transaction that is kept for later references no table, nor its successors")
    void giveBack_tableIsRebuiltLater_isNotKept() {
        Keyspace keys = new Keyspace(100, clock);
        Policy policy = Policy.of("p", BUCKET);
        TransactionPool transactions = new TransactionPool(clock);
        keys.tryCharge("k", BUCKET, 1);
        WeakReference<Table> table =
                new WeakReference<>(keys.segment(KeyHash.of("k")).table());

        Transaction transaction = transactions.take();
        transaction.add(policy.charge("k"), List.of(keys));
        transaction.peek(List.of(policy.charge("k")));
        transactions.giveBack(transaction);
        ticker.advance(HOUR);
        keys.sweep();

        assertThat(keys.size()).isZero();
        for (int i = 0; i < 20 && table.get() != null; i++) {
            System.gc();
        }
        assertThat(table.get()).isNull();
        assertThat(transactions.take()).isSameAs(transaction);
    }

    @Test
    @DisplayName("D11 a key that is added while the last one is swept out is also swept out")
    void sweep_keyComesMeanwhile_setsTheAlarm() {
        InMemoryStore store = store(10);
        Policy policy = Policy.of("p", BUCKET);
        store.tryCharge(policy.charge("a"));
        ticker.advance(HOUR);
        Policy other =
                Policy.of("q", watched(BUCKET, Map.of("fullAfterNanos", () -> store.tryCharge(policy.charge("b")))));
        store.tryCharge(other.charge("a"));
        ticker.advance(HOUR);

        ticker.ring();
        ticker.advance(HOUR);
        while (ticker.alarms() > 0) {
            ticker.ring();
        }

        assertThat(store.keys("p")).isZero();
        assertThat(store.keys("q")).isZero();
    }

    @Test
    @DisplayName(
            "B1 one long: a thread that is preempted after reading the clock does not use that time with a later state")
    void tryCharge_heldUpAfterTheClock_isDecidedByALaterTime() {
        Keyspace keys = new Keyspace(10, clock);
        keys.tryCharge("k", BUCKET, 1);
        ticker.afterReadNext(() -> {
            ticker.advance(HOUR);
            keys.tryCharge("k", BUCKET, 1);
        });

        assertThat(keys.tryCharge("k", BUCKET, 1)).isEqualTo(Outcome.ADMITTED);
        assertThat(keys.tryCharge("k", BUCKET, 1)).isEqualTo(Outcome.REFUSED);
    }

    /** Whether the key's slot is locked at the next reading of the clock. */
    private AtomicBoolean lockedAtNextReading(Keyspace keys, String key) {
        long hash = KeyHash.of(key);
        Table table = keys.segment(hash).table();
        int slot = table.find(hash);
        AtomicBoolean locked = new AtomicBoolean();
        ticker.whenReadNext(() -> {
            boolean free = table.tryLock(slot);
            if (free) {
                table.unlock(slot);
            }
            locked.set(!free);
        });
        return locked;
    }

    @Test
    @DisplayName("B1 several longs: the clock is read with the state locked")
    void tryCharge_severalLongs_readsTheClockUnderTheLock() {
        Keyspace keys = new Keyspace(10, clock);
        LimitAlgorithm window = FixedWindow.of(Rate.parse("2/hour"));
        keys.tryCharge("k", window, 1);
        AtomicBoolean locked = lockedAtNextReading(keys, "k");

        keys.tryCharge("k", window, 1);

        assertThat(locked).isTrue();
    }

    @Test
    @DisplayName("B1 several limits: the clock is read with all states locked")
    void decide_readsTheClockUnderTheLocks() {
        Keyspace keys = new Keyspace(10, clock);
        keys.tryCharge("k", BUCKET, 1);
        AtomicBoolean locked = lockedAtNextReading(keys, "k");
        Transaction transaction = new Transaction(clock);
        transaction.add(Policy.of("p", BUCKET).charge("k"), List.of(keys));

        transaction.decide(new Receipt(List.of(Policy.of("p", BUCKET).charge("k"))));

        assertThat(locked).isTrue();
    }

    @Test
    @DisplayName("D2 a key that is exhausted between being selected and being evicted stays")
    void evict_exhaustedMeanwhile_keepsTheKey() {
        Keyspace keys = new Keyspace(2, clock);
        keys.tryCharge("a", BUCKET, 1);
        keys.tryCharge("b", BUCKET, 1);
        List<Long> looked = new ArrayList<>();
        LongPredicate kept = hash -> {
            looked.add(hash);
            if (looked.size() == 2) {
                keys.tryCharge(looked.get(0) == KeyHash.of("a") ? "a" : "b", BUCKET, 1);
            }
            return false;
        };

        boolean removed = keys.segment(KeyHash.of("a")).evict(new Sample(KeyHash.of("new"), kept));

        assertThat(removed).isFalse();
        assertThat(looked).hasSize(2);
        assertThat(keys.size()).isEqualTo(2);
    }

    @Test
    @DisplayName("D2 a thread that looks for room does not evict the key that it is for, nor one too many")
    void evict_anotherThreadWasFaster_keepsAllKeys() {
        Keyspace full = new Keyspace(2, clock);
        full.tryCharge("other", BUCKET, 1);
        full.tryCharge("new", BUCKET, 1);
        Keyspace roomy = new Keyspace(2, clock);
        roomy.tryCharge("other", BUCKET, 1);

        for (Keyspace keys : List.of(full, roomy)) {
            long hash = KeyHash.of("new");
            assertThat(keys.segment(hash).evict(new Sample(hash, none -> false)))
                    .isTrue();
            assertThat(keys.evictedActiveCount()).isZero();
        }
    }

    @Test
    void add_tableIsCrowded_growsBeforeItIsFull() {
        Keyspace keys = new Keyspace(1_000, clock);
        for (int i = 0; i < 500; i++) {
            keys.tryCharge("k" + i, BUCKET, 1);

            assertThat(keys.segment(KeyHash.of("k")).table().slots()).isGreaterThan((i + 1) * 13 / 10);
        }
    }

    @Test
    @DisplayName("A14 limits without keys release their numbers at the next sweep")
    void sweep_limitsAreNotUsedAnyMore_freesTheirNumbers() {
        Keyspace keys = new Keyspace(1_000, clock);
        for (int i = 0; i < 100; i++) {
            keys.tryCharge("k" + i, TokenBucket.of(Rate.parse(1 + i + "/minute")), 1);
        }
        for (int i = 0; i < 300; i++) {
            keys.tryCharge("stays" + i, TokenBucket.of(Rate.parse("1/day")), 1);
        }
        ticker.advance(HOUR);
        assertThat(keys.segment(KeyHash.of("k0")).table().lacksNumbers()).isTrue();

        keys.sweep();

        assertThat(keys.segment(KeyHash.of("k0")).table().lacksNumbers()).isFalse();
        assertThat(keys.size()).isEqualTo(300);
    }

    @Test
    void sweep_fails_sweepsTheNextTime() {
        InMemoryStore store = store(10);
        Policy policy = Policy.of("p", BUCKET);
        store.tryCharge(policy.charge("a"));
        ticker.advance(HOUR);
        ticker.whenReadNext(() -> {
            throw new IllegalStateException("no time");
        });
        assertThatIllegalStateException().isThrownBy(() -> ticker.ring()).withMessage("no time");

        store.tryCharge(policy.charge("a"));

        assertThat(ticker.alarms()).isEqualTo(1);
    }

    @Test
    void refund_clockFails_leavesNothingLocked() {
        InMemoryStore store = store(10);
        Policy policy = Policy.of("p", BUCKET);
        var decision = store.decide(List.of(policy.charge("k")));
        ticker.whenReadNext(() -> {
            throw new IllegalStateException("no time");
        });
        assertThatIllegalStateException()
                .isThrownBy(() -> store.refund(decision))
                .withMessage("no time");

        boolean charged = assertTimeoutPreemptively(Duration.ofMinutes(1), () -> store.tryCharge(policy.charge("k")));
        assertThat(charged).isTrue();
    }

    @Test
    void add_clockFails_takesNoPlace() {
        InMemoryStore store = store(10);
        Policy policy = Policy.of("p", BUCKET);
        ticker.whenReadNext(() -> {
            throw new IllegalStateException("no time");
        });
        assertThatIllegalStateException()
                .isThrownBy(() -> store.tryCharge(policy.charge("k")))
                .withMessage("no time");

        assertThat(store.keys("p")).isZero();
        assertThat(store.tryCharge(policy.charge("k", 2))).isTrue();
        assertThat(store.keys("p")).isEqualTo(1);
    }
}
