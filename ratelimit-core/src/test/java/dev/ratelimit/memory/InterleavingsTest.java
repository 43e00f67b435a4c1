package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Races that are rare, each put into the order in which something could go wrong. */
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InterleavingsTest {

    private static final long HOUR = Duration.ofHours(1).toNanos();
    private static final Limit BUCKET = TokenBucket.of(Rate.parse("2/hour"));

    private final SetTicker ticker = new SetTicker();
    private final StoreClock clock = new StoreClock(ticker);

    private InMemoryStore store(int maxKeys) {
        return InMemoryStore.builder().ticker(ticker).maxKeys(maxKeys).build();
    }

    /** A limit that does something when these methods of it are called first; equal to what it stands for. */
    private static Limit watched(Limit limit, Map<String, Runnable> tasks) {
        Map<String, Runnable> left = new ConcurrentHashMap<>(tasks);
        return (Limit) Proxy.newProxyInstance(
                Limit.class.getClassLoader(), new Class<?>[] {Limit.class}, (proxy, method, arguments) -> {
                    Runnable task = left.remove(method.getName());
                    if (task != null) {
                        task.run();
                    }
                    return method.invoke(limit, arguments);
                });
    }

    @SuppressWarnings("ThreadPriorityCheck") // what is waited for is another thread's state
    private static void awaitBlockedOrDone(Thread thread) {
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TERMINATED) {
            Thread.yield();
        }
    }

    @Test
    @DisplayName("D2 of two that bring the last key there is a place for, none pushes another key out")
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
        assertThat(keys.tryCharge("other", BUCKET, 2)).isFalse();
        assertThat(keys.tryCharge("new", BUCKET, 1)).isFalse();
    }

    @Test
    @DisplayName("A14 who asks for a change that was made meanwhile leaves the state as it is")
    void change_madeMeanwhile_leavesTheState() {
        Keyspace keys = new Keyspace(10, clock);
        Limit log = SlidingLog.of(Rate.parse("2/hour"));
        long hash = KeyHash.of("k");
        keys.tryCharge("k", log, 2);
        ticker.advance(HOUR / 2);

        keys.segment(hash).change(hash, SlidingLog.of(Rate.parse("2/hour")));
        ticker.advance(HOUR / 2);

        assertThat(keys.tryCharge("k", log, 2)).isTrue();
    }

    @Test
    @DisplayName("D3 keys that find no place, under two limits in one call, share a budget and do not wait for ever")
    void decide_twoLimitsOfOnePolicyInTheOverflow_answers() {
        InMemoryStore store = store(1);
        Policy one = Policy.of("p", TokenBucket.of(Rate.parse("2/hour")));
        Policy other = Policy.of("p", TokenBucket.of(Rate.parse("3/hour")));
        store.tryCharge(one.charge("exhausted", 2));

        boolean admitted = assertTimeoutPreemptively(
                Duration.ofSeconds(5),
                () -> store.decide(List.of(one.charge("x"), other.charge("y"))).admitted());

        assertThat(admitted).isTrue();
        assertThat(store.tryCharge(one.charge("z", 2))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 20})
    @DisplayName("D3 new keys in one call do not push each other out for ever when the table is full")
    void decide_newKeysInAFullTable_answers(int maxKeys) {
        InMemoryStore store = store(maxKeys);
        Policy policy = Policy.of("p", BUCKET);
        IntStream.range(0, maxKeys).forEach(i -> store.tryCharge(policy.charge("used" + i)));

        boolean admitted = assertTimeoutPreemptively(
                Duration.ofSeconds(5),
                () -> store.decide(List.of(policy.charge("x"), policy.charge("y")))
                        .admitted());

        assertThat(admitted).isTrue();
        assertThat(store.evictedActive("p")).isEqualTo(Math.min(maxKeys, 2));
        assertThat(store.keys("p")).isEqualTo(maxKeys);
        assertThat(store.tryCharge(policy.charge("x", 2))).isFalse();
    }

    @Test
    @DisplayName(
            "B1 a charge of two limits is not refused by a time at which another thread had not yet read the state")
    void tryCharge_timePassesBetweenTwoLimits_isNotRefusedByTheFormer() {
        InMemoryStore store = store(10);
        Policy global = Policy.of("global", BUCKET);
        store.tryCharge(List.of(global.charge("", 2), Policy.of("user", BUCKET).charge("k")));
        Policy user = Policy.of("user", watched(BUCKET, Map.of("admits", () -> ticker.advance(HOUR))));

        assertThat(store.tryCharge(List.of(global.charge("", 2), user.charge("k"))))
                .isTrue();
    }

    @Test
    @DisplayName("D1 a transaction that is kept for later keeps no table, nor all that came after it")
    void giveBack_tableIsRebuiltLater_isNotKept() {
        Keyspace keys = new Keyspace(100, clock);
        Policy policy = Policy.of("p", BUCKET);
        Transactions transactions = new Transactions(clock);
        keys.tryCharge("k", BUCKET, 1);
        WeakReference<Table> table =
                new WeakReference<>(keys.segment(KeyHash.of("k")).table());

        Transaction transaction = transactions.take();
        transaction.add(policy.charge("k"), List.of(keys));
        transaction.lock();
        transaction.unlock();
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
    @DisplayName("D11 a key that comes while the last one is swept out is swept out, too")
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
    void sweep_fails_sweepsTheNextTime() {
        InMemoryStore store = store(10);
        Policy policy = Policy.of("p", BUCKET);
        store.tryCharge(policy.charge("a"));
        ticker.advance(HOUR);
        ticker.whenReadNext(() -> {
            throw new IllegalStateException("no time");
        });
        try {
            ticker.ring();
        } catch (IllegalStateException expected) {
            assertThat(expected).hasMessage("no time");
        }

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
        try {
            store.refund(List.of(policy.charge("k")), decision);
        } catch (IllegalStateException expected) {
            assertThat(expected).hasMessage("no time");
        }

        boolean charged = assertTimeoutPreemptively(Duration.ofSeconds(5), () -> store.tryCharge(policy.charge("k")));
        assertThat(charged).isTrue();
    }

    @Test
    void add_clockFails_takesNoPlace() {
        InMemoryStore store = store(10);
        Policy policy = Policy.of("p", BUCKET);
        ticker.whenReadNext(() -> {
            throw new IllegalStateException("no time");
        });
        try {
            store.tryCharge(policy.charge("k"));
        } catch (IllegalStateException expected) {
            assertThat(expected).hasMessage("no time");
        }

        assertThat(store.keys("p")).isZero();
        assertThat(store.tryCharge(policy.charge("k", 2))).isTrue();
        assertThat(store.keys("p")).isEqualTo(1);
    }
}
