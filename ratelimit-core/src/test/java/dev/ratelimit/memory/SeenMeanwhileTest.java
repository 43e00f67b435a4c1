package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a thread sees of keys and states while another thread has completed only part of its work. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SeenMeanwhileTest {

    private static final LimitAlgorithm BUCKET = TokenBucket.of(Rate.parse("2/hour"));

    private final SetTicker ticker = new SetTicker();
    private final StoreClock clock = new StoreClock(ticker);
    private final Keyspace keys = new Keyspace(100, clock);

    /** A limit that runs an action whenever this method is called. */
    private static LimitAlgorithm watched(LimitAlgorithm limit, String watched, Runnable task) {
        return (LimitAlgorithm) Proxy.newProxyInstance(
                LimitAlgorithm.class.getClassLoader(),
                new Class<?>[] {LimitAlgorithm.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals(watched)) {
                        task.run();
                    }
                    return method.invoke(limit, arguments);
                });
    }

    private Table tableOf(String key) {
        return keys.segment(KeyHash.of(key)).table();
    }

    @Test
    @DisplayName("B2 a state that others read without a lock is not written before all limits have admitted")
    void tryCharge_otherLimitsAreStillAsked_showsNoCharge() {
        keys.tryCharge("k", BUCKET, 1);
        Keyspace locked = new Keyspace(100, clock);
        locked.tryCharge("k", BUCKET, 1);
        Table table = locked.segment(KeyHash.of("k")).table();
        int state = table.find(KeyHash.of("k")) + 1;
        List<Long> seen = new ArrayList<>(List.of(table.longs[state]));
        Policy asked = Policy.of("asked", watched(BUCKET, "tryCharge", () -> seen.add(table.longs[state])));
        keys.add(KeyHash.OF_EMPTY, asked.algorithms().get(0), none -> false);
        Policy user = Policy.of("user", BUCKET);
        StackTransaction chain =
                new StackTransaction(clock, policy -> List.of(policy.equals(user) ? locked : keys), new HotSlots());

        Outcome outcome = chain.tryCharge(List.of(asked.charge(), user.charge("k")));

        assertThat(outcome).isEqualTo(Outcome.ADMITTED);
        assertThat(seen).hasSize(2).containsOnly(seen.get(0)).doesNotContain(table.longs[state]);
    }

    @Test
    @DisplayName("B2 no refusal because of a state that is locked or belongs to another key by now")
    void tryChargeMarked_markIsAnother_isNoRefusal() {
        keys.tryCharge("k", BUCKET, 2);
        long hash = KeyHash.of("k");
        Table table = tableOf("k");
        int slot = table.find(hash);
        HotSlot known = new HotSlot(
                Policy.of("p", BUCKET),
                "k",
                0,
                keys,
                BUCKET,
                table,
                table.longs,
                slot,
                table.unlockedHeader(slot, hash, BUCKET));
        assertThat(known.tryCharge(1, clock)).isEqualTo(Outcome.REFUSED);

        table.lock(slot, hash);
        assertThat(Slots.holds(table.longs, slot, known.header(), table.longs[slot + 1]))
                .isFalse();
        table.remove(slot);
        assertThat(known.tryCharge(1, clock)).isEqualTo(Outcome.GONE);
    }

    @Test
    @DisplayName("B1 a key that is added while a lock is awaited is seen at the same moment as the others")
    void peek_keyComesWhileALockIsAwaited_seesItsCharge() {
        keys.tryCharge("k", BUCKET, 1);
        Policy policy = Policy.of("p", BUCKET);
        Transaction transaction = new Transaction(clock);
        transaction.add(policy.charge("k"), List.of(keys));
        transaction.add(policy.charge("new"), List.of(keys));
        Table table = tableOf("k");
        int slot = table.find(KeyHash.of("k"));
        CompletableFuture<Decision> seen = new CompletableFuture<>();
        Thread other =
                new Thread(() -> seen.complete(transaction.peek(List.of(policy.charge("k"), policy.charge("new")))));

        table.lock(slot, KeyHash.of("k"));
        other.start();
        awaitLocking(other);
        keys.tryCharge("new", BUCKET, 2);
        table.unlock(slot);

        assertThat(seen.join().limits().get(1).remaining()).isZero();
    }

    /** Waits until the thread waits for the lock of a slot. */
    private static void awaitLocking(Thread thread) {
        while (Stream.of(thread.getStackTrace())
                .noneMatch(frame -> frame.getClassName().equals(Table.class.getName())
                        && frame.getMethodName().equals("lock"))) {
            Thread.onSpinWait();
        }
    }

    @Test
    @DisplayName("B1 a key that is added after the clock was read is full at that time")
    void decide_keyComesAfterTheClockWasRead_isFull() {
        Keyspace locked = new Keyspace(100, clock);
        locked.tryCharge("k", BUCKET, 2);
        Policy fresh = Policy.of("fresh", BUCKET);
        Policy user = Policy.of("user", BUCKET);
        StackTransaction stack =
                new StackTransaction(clock, policy -> List.of(policy.equals(user) ? locked : keys), new HotSlots());
        ticker.afterReadNext(() -> {
            ticker.advance(1_000);
            keys.add(KeyHash.of("new"), BUCKET, none -> false);
        });

        Decision refused = Objects.requireNonNull(stack.decide(List.of(fresh.charge("new"), user.charge("k"))));

        assertThat(refused.limits().get(0).remaining()).isEqualTo(2);
        assertThat(refused.limits().get(0).fullAfterNanos()).isZero();
    }

    @Test
    @DisplayName("B1 all threads lock two slots of a table in the same order")
    void inOrderOfLocking_slotsOfOneTable_isTheSameBothWays() {
        Policy policy = Policy.of("p", BUCKET);
        List<Claim> claims = Stream.of("a", "b")
                .map(key -> {
                    keys.tryCharge(key, BUCKET, 1);
                    Claim claim = new Claim();
                    claim.set(policy.charge(key), BUCKET, keys, KeyHash.of(key));
                    claim.locate();
                    return claim;
                })
                .toList();

        int order = Claim.inOrderOfLocking(claims.get(0), claims.get(1));

        assertThat(order).isNotZero().isEqualTo(-Claim.inOrderOfLocking(claims.get(1), claims.get(0)));
    }

    @Test
    @DisplayName("D2 a key that another thread added in the meantime is not charged to the overflow")
    void add_keyComesWhileAPlaceIsLookedFor_hasAPlace() {
        int max = 30_000;
        Keyspace full = new Keyspace(max, clock);
        long hash = KeyHash.of("new");
        IntStream.iterate(0, i -> full.size() < max, i -> i + 1)
                .filter(i -> i < 50 || full.segment(KeyHash.of("k" + i)) != full.segment(hash))
                .forEach(i -> full.tryCharge("k" + i, BUCKET, 2));
        AtomicBoolean came = new AtomicBoolean();
        LongPredicate kept = other -> {
            if (full.segment(other) != full.segment(hash) && came.compareAndSet(false, true)) {
                ticker.advance(BUCKET.replenishNanos());
                full.tryCharge("new", BUCKET, 1);
            }
            return true;
        };

        boolean added = full.add(hash, BUCKET, kept);

        assertThat(came).isTrue();
        assertThat(added).isTrue();
    }

    @Test
    @DisplayName("B4 each key can be found while others are moved to another table")
    void find_keysAreMoved_findsEach() {
        List<Integer> found = new ArrayList<>();
        Runnable look = () -> found.add((int) IntStream.range(0, 5)
                .mapToLong(i -> KeyHash.of("k" + i))
                .filter(hash -> keys.segment(hash).find(hash) != null)
                .count());
        LimitAlgorithm one = watched(BUCKET, "equals", look);
        LimitAlgorithm other = watched(BUCKET, "equals", look);
        IntStream.range(0, 5).forEach(i -> keys.tryCharge("k" + i, i % 2 == 0 ? one : other, 1));
        Table before = tableOf("k0");
        found.clear();

        keys.tryCharge("k5", one, 1);

        assertThat(tableOf("k0")).isNotSameAs(before);
        assertThat(found).isNotEmpty().containsOnly(5);
    }
}
