package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.faults.Fuse;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class HotSlotsTest {

    private static final Policy POLICY = Policy.of("p", TokenBucket.of(Rate.parse("5/hour")));

    private final SetTicker ticker = new SetTicker();
    private final StoreClock clock = new StoreClock(ticker);
    private final Keyspace keys = new Keyspace(1_000, clock);
    private final HotSlots slots = new HotSlots();

    /** Limits of one long, and of several. */
    static Stream<Limit> limits() {
        Rate rate = Rate.parse("5/hour");
        return Stream.of(TokenBucket.of(rate), FixedWindow.of(rate), SlidingWindow.of(rate));
    }

    private void charge(String key) {
        assertThat(keys.tryCharge(key, POLICY.algorithms().get(0), 1)).isEqualTo(Outcome.ADMITTED);
    }

    private HotSlot known(String key) {
        charge(key);
        slots.offer(POLICY, key, keys);
        return Objects.requireNonNull(slots.find(POLICY, key));
    }

    private static int admitted(InMemoryStore store, Policy policy, String key) {
        return (int) IntStream.range(0, 10)
                .filter(i -> store.tryCharge(policy, key, 1))
                .count();
    }

    @Test
    @DisplayName("a store that has forgotten its keys is not charged for them, whichever came first")
    void tryCharge_keysThatTheStoreHasForgotten_isGone() {
        HotSlot before = known("before");
        charge("after");
        keys.abandon();
        slots.offer(POLICY, "after", keys);
        HotSlot after = Objects.requireNonNull(slots.find(POLICY, "after"));

        assertThat(before.tryCharge(1, clock)).isEqualTo(Outcome.GONE);
        assertThat(after.tryCharge(1, clock)).isEqualTo(Outcome.GONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a", "ab", "key of a user"})
    void find_offeredKey_returnsItsSlot(String key) {
        HotSlot slot = known(key);

        assertThat(slot.tryCharge(4, clock)).isEqualTo(Outcome.ADMITTED);
        assertThat(slot.tryCharge(1, clock)).isEqualTo(Outcome.REFUSED);
        assertThat(keys.tryCharge(key, POLICY.algorithms().get(0), 1)).isEqualTo(Outcome.REFUSED);
    }

    @Test
    @DisplayName("slots after the first one are found by their places")
    void find_severalKeys_returnsEachSlot() {
        HotSlot first = known("first");
        HotSlot second = known("second");

        assertThat(slots.find(POLICY, "first")).isSameAs(first);
        assertThat(slots.find(POLICY, new String("first"))).isSameAs(first);
        assertThat(slots.find(POLICY, "second")).isSameAs(second);
        slots.forget(second);
        assertThat(slots.find(POLICY, "second")).isNull();
        assertThat(slots.find(POLICY, "first")).isSameAs(first);
    }

    @Test
    void find_otherKeyInTheSamePlace_returnsNothing() {
        known("xaaab");

        assertThat(slots.find(POLICY, "yaaab")).isNull();
    }

    @Test
    void offer_unknownLockedOrLongKey_remembersNothing() {
        String longKey = "k".repeat(1_000);
        charge("locked");
        charge(longKey);
        long hash = KeyHash.of("locked");
        Table table = keys.segment(hash).table();
        table.lock(table.find(hash), hash);

        Stream.of("unknown", "locked", longKey).forEach(key -> slots.offer(POLICY, key, keys));

        assertThat(Stream.of("unknown", "locked", longKey).map(key -> slots.find(POLICY, key)))
                .containsOnlyNulls();
    }

    @Test
    @DisplayName("a key that was moved to another table is no longer charged in its old slot")
    void tryCharge_movedKey_isGone() {
        HotSlot slot = known("k");

        IntStream.range(0, 100).forEach(i -> charge("other" + i));

        assertThat(slot.tryCharge(1, clock)).isEqualTo(Outcome.GONE);
    }

    @Test
    @DisplayName("a slot that was given to another key is not charged for the former one")
    void tryCharge_evictedKey_isGone() {
        Keyspace one = new Keyspace(1, clock);
        one.tryCharge("k", POLICY.algorithms().get(0), 1);
        slots.offer(POLICY, "k", one);
        HotSlot slot = Objects.requireNonNull(slots.find(POLICY, "k"));
        ticker.advance(Duration.ofHours(1).toNanos());
        one.tryCharge("new", POLICY.algorithms().get(0), 5);

        assertThat(slot.tryCharge(1, clock)).isEqualTo(Outcome.GONE);
    }

    @Test
    void forget_replacedSlot_keepsTheNewOne() {
        HotSlot former = known("k");
        slots.forget(former);
        assertThat(slots.find(POLICY, "k")).isNull();
        HotSlot latter = known("k");

        slots.forget(former);

        assertThat(slots.find(POLICY, "k")).isSameAs(latter);
        slots.clear();
        assertThat(slots.find(POLICY, "k")).isNull();
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("a busy key has one budget, through growth, sweeps, equal policies and keys in the same place")
    void tryCharge_busyKey_hasOneBudget(Limit limit) {
        InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
        Policy policy = Policy.of("p", limit);
        store.tryCharge(policy, "xaaab", 1);
        store.tryCharge(policy, "xaaab", 1);
        IntStream.range(0, 100).forEach(i -> store.tryCharge(policy, "other" + i, 1));
        store.tryCharge(policy, "xaaab", 1);
        ticker.ring();
        store.tryCharge(Policy.of("p", limit), new String("xaaab"), 1);

        assertThat(admitted(store, policy, "yaaab")).isEqualTo(5);
        assertThat(admitted(store, policy, "xaaab")).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("the same for decisions of several limits, yes or no and in full, that take turns with those of one")
    void decide_busyKeyAmongOthers_hasOneBudget(Limit limit) {
        InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
        Policy policy = Policy.of("p", limit);
        Policy same = Policy.of("p", limit);
        Charge all = Policy.of("all", TokenBucket.of(Rate.parse("1000/hour"))).charge();
        store.decide(List.of(all, policy.charge("xaaab")));
        store.tryCharge(List.of(all, policy.charge("xaaab")));
        IntStream.range(0, 100).forEach(i -> store.decide(List.of(all, policy.charge("other" + i))));
        store.decide(List.of(all, same.charge(new String("xaaab"))));
        ticker.ring();
        store.tryCharge(policy, "xaaab", 1);

        assertThat(store.decide(List.of(all, policy.charge("xaaab", 2))).admitted())
                .isFalse();
        assertThat(store.tryCharge(List.of(all, same.charge("xaaab")))).isTrue();
        assertThat(store.decide(List.of(all, policy.charge("xaaab"))).admitted())
                .isFalse();
        assertThat(admitted(store, policy, "xaaab")).isZero();
        assertThat(admitted(store, policy, "yaaab")).isEqualTo(5);
        assertThat(store.decide(List.of(all)).limits().get(0).remaining()).isEqualTo(1000 - 105);

        store.clear();
        assertThat(store.decide(List.of(all, policy.charge("xaaab", 5))).admitted())
                .isTrue();
    }

    @Test
    @DisplayName("a decision forgets a slot that is no longer its key's")
    void decide_movedKey_isLookedUp() {
        Charge charge = POLICY.charge("k");
        StackTransaction stack = new StackTransaction(clock, policy -> List.of(keys), slots);
        HotSlot slot = known("k");
        assertThat(stack.tryCharge(List.of(charge))).isEqualTo(Outcome.ADMITTED);

        IntStream.range(0, 100).forEach(i -> charge("other" + i));

        assertThat(slot.isGone()).isTrue();
        assertThat(stack.tryCharge(List.of(charge))).isEqualTo(Outcome.UNDECIDED);
        assertThat(slots.find(charge)).isNull();
        assertThat(stack.tryCharge(List.of(charge))).isEqualTo(Outcome.ADMITTED);
        assertThat(slots.find(charge)).isNotNull().isNotEqualTo(slot);
        assertThat(slots.find(POLICY.charge("k", 0))).isNull();
        keys.abandon();
        assertThat(slots.find(charge)).isNull();
    }

    @Test
    @DisplayName("limits whose refusals write, or whose states grow, are looked up each time")
    void offer_limitThatCannotBeKept_remembersNothing() {
        Rate rate = Rate.parse("5/hour");
        Stream.of(
                        Policy.of("p", TokenBucket.of(rate)).withPenalty(Duration.ofMinutes(1)),
                        Policy.of("p", SlidingLog.of(rate)),
                        Policy.of("p", TokenBucket.of(rate), FixedWindow.of(rate)))
                .forEach(policy -> {
                    Keyspace own = new Keyspace(1_000, clock);
                    own.add(KeyHash.of("k"), policy.algorithms().get(0), none -> false);
                    slots.offer(policy, "k", own);
                    assertThat(slots.find(policy, "k")).isNull();
                    assertThat(slots.find(policy.charge("k"))).isNull();
                });
    }

    @Test
    @DisplayName("a charge between the reading of the state and its update is seen")
    void tryCharge_chargedMeanwhile_triesAgain() {
        HotSlot slot = known("k");
        ticker.whenReadNext(() -> charge("k"));

        assertThat(slot.tryCharge(4, clock)).isEqualTo(Outcome.REFUSED);
        assertThat(slot.tryCharge(3, clock)).isEqualTo(Outcome.ADMITTED);
    }

    @Test
    @DisplayName("the clock is read after the state: an earlier time would refuse, in either order of the two calls")
    void tryCharge_chargedLaterMeanwhile_isDecidedByTheLaterTime() {
        HotSlot slot = known("k");
        assertThat(slot.tryCharge(3, clock)).isEqualTo(Outcome.ADMITTED);
        ticker.afterReadNext(() -> {
            ticker.advance(Duration.ofHours(1).toNanos());
            IntStream.range(0, 4).forEach(i -> charge("k"));
        });

        assertThat(slot.tryCharge(1, clock)).isEqualTo(Outcome.ADMITTED);
    }

    @Test
    void tryCharge_closedStore_stillCounts() {
        InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
        store.tryCharge(POLICY, "k", 1);
        store.close();

        assertThat(admitted(store, POLICY, "k")).isEqualTo(4);
    }

    @Test
    void tryCharge_busyKeyUnderAnotherLimit_isChargedOnce() {
        InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
        Policy larger = Policy.of("p", TokenBucket.of(Rate.parse("10/hour")));
        IntStream.range(0, 4).forEach(i -> store.tryCharge(POLICY, "k", 1));

        assertThat(admitted(store, larger, "k")).isEqualTo(2);
        assertThat(admitted(store, POLICY, "k")).isZero();
    }

    @Test
    @DisplayName("policies in the same place, because their names have one hash, have budgets of their own")
    void tryCharge_otherPolicyWithTheSameHash_hasItsOwnBudget() {
        InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
        Limit limit = TokenBucket.of(Rate.parse("5/hour"));

        assertThat(admitted(store, Policy.of("Aa", limit), "k")).isEqualTo(5);
        assertThat(admitted(store, Policy.of("BB", limit), "k")).isEqualTo(5);
    }

    @Test
    void tryCharge_oneMoreLimitOfTheSamePolicy_isAskedAndCharged() {
        InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
        Limit limit = TokenBucket.of(Rate.parse("5/hour"));
        Policy strict = Policy.of("p", limit, FixedWindow.of(Rate.parse("2/hour")));
        store.tryCharge(Policy.of("p", limit), "k", 1);
        store.tryCharge(Policy.of("p", limit), "k", 1);

        assertThat(admitted(store, strict, "k")).isEqualTo(2);
        assertThat(admitted(store, Policy.of("p", limit), "k")).isEqualTo(1);
    }

    @Test
    @DisplayName("whenever the limit throws, all three longs are as before")
    void tryCharge_limitThrows_restoresTheState() {
        Fuse fuse = new Fuse();
        InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
        Policy policy = Policy.of("p", fuse.on(SlidingWindow.of(Rate.parse("5/hour"))));
        assertThat(admitted(store, policy, "k")).isEqualTo(5);
        ticker.advance(Duration.ofMinutes(90).toNanos());
        List<LimitStatus> before = store.peek(List.of(policy.charge("k", 0))).limits();

        int thrown = 0;
        while (throwsAt(thrown + 1, fuse, () -> store.tryCharge(policy, "k", 1))) {
            thrown++;
            assertThat(store.peek(List.of(policy.charge("k", 0))).limits()).isEqualTo(before);
        }

        assertThat(thrown).isGreaterThan(3);
        assertThat(admitted(store, policy, "k")).isEqualTo(1);
    }

    /** Whether there is an n-th call of the limit, which throws. */
    private static boolean throwsAt(int n, Fuse fuse, BooleanSupplier charge) {
        fuse.armed(n, () -> new IllegalStateException("test"));
        try {
            assertThat(charge.getAsBoolean()).isTrue();
        } catch (IllegalStateException expected) {
            assertThat(expected).hasMessage("test");
        }
        return fuse.disarmed();
    }
}
