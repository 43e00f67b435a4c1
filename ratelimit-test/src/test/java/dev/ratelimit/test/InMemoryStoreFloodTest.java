package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A flood of new keys does not exhaust memory, does not grant fresh budgets, and does not lock anybody out. */
@Tag("slow")
class InMemoryStoreFloodTest {

    private static final List<String> VICTIMS =
            IntStream.range(0, 100).mapToObj(i -> "victim" + i).toList();

    private final FakeTicker ticker = new FakeTicker();

    static Stream<Limit> limits() {
        Rate rate = Rate.parse("3/hour");
        return Stream.of(TokenBucket.of(rate), FixedWindow.of(rate), SlidingWindow.of(rate), SlidingLog.of(rate));
    }

    private InMemoryStore store(int maxKeys) {
        return InMemoryStore.builder().ticker(ticker).maxKeys(maxKeys).build();
    }

    @Test
    @DisplayName(
            "D1 ten million addresses at night, a million in a build, stay within 100,000 keys and 64 MB, and the exhausted stay exhausted")
    void flood_ofMillionsOfAddresses_isBoundedInKeysAndMemory() {
        int waves = Boolean.getBoolean("nightly") ? 80 : 8;
        int wave = 125_000;
        InMemoryStore store = store(100_000);
        Policy policy = Policy.of("p", TokenBucket.of(Rate.parse("3/minute")));
        long before = heapAfterCollection();

        long maxKeys = 0;
        long withoutPlace = 0;
        for (int first = 0; first < waves * wave; first += wave) {
            ticker.advance(Duration.ofMinutes(1));
            assertThat(store.keys("p")).isZero();
            VICTIMS.forEach(key -> store.decide(List.of(policy.charge(key, 3))));
            for (int i = first; i < first + wave; i++) {
                withoutPlace += store.tryCharge(policy.charge(address(i))) ? 0 : 1;
                maxKeys = Math.max(maxKeys, store.keys("p"));
            }
            assertThat(VICTIMS).noneMatch(key -> store.tryCharge(policy.charge(key)));
        }
        long growth = heapAfterCollection() - before;

        assertThat(maxKeys).isEqualTo(100_000);
        assertThat(growth).isLessThan(64L << 20);
        // keys in the full table took a slot that is counted, or none: then the overflow gave 3 per minute
        long tooMany = waves * (wave + 100L - 100_000);
        assertThat(store.evictedActive("p") + withoutPlace).isBetween(tooMany - 3L * waves, tooMany);
    }

    private static String address(int i) {
        return (i >>> 24) + "." + (i >>> 16 & 255) + "." + (i >>> 8 & 255) + "." + (i & 255);
    }

    private static long heapAfterCollection() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("D2 a flood of 100 times the bound leaves an exhausted key exhausted, and counts the evictions")
    void flood_ofNewKeys_staysWithinMaxKeys_andLeavesExhaustedKeysExhausted(Limit limit) {
        InMemoryStore store = store(100);
        Policy policy = Policy.of("p", limit);
        store.decide(List.of(policy.charge("victim", 3)));

        for (int i = 0; i < 10_000; i++) {
            assertThat(store.tryCharge(policy.charge("flood" + i))).isTrue();
            assertThat(store.keys("p")).isLessThanOrEqualTo(100);
        }

        assertThat(store.tryCharge(policy.charge("victim"))).isFalse();
        assertThat(store.evictedActive("p")).isEqualTo(9_901);
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("D2 a flood that exhausts its own keys evicts no key")
    void flood_ofExhaustedKeys_leavesEveryKeyAsItWas(Limit limit) {
        InMemoryStore store = store(100);
        Policy policy = Policy.of("p", limit);
        store.decide(List.of(policy.charge("victim", 3)));

        for (int i = 0; i < 1_000; i++) {
            store.decide(List.of(policy.charge("flood" + i, 3)));
        }

        assertThat(store.evictedActive("p")).isZero();
        assertThat(store.peek(List.of(policy.charge("victim")))).isRefused();
        assertThat(store.peek(List.of(policy.charge("flood0")))).isRefused();
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("D2 a key with permits left is either kept or counted as evicted")
    void flood_keysWithSomethingLeft_areRememberedOrCounted(Limit limit) {
        InMemoryStore store = store(100);
        Policy policy = Policy.of("p", limit);
        IntStream.range(0, 100).forEach(i -> store.decide(List.of(policy.charge("user" + i, 2))));

        for (int i = 0; i < 1_000; i++) {
            store.tryCharge(policy.charge("flood" + i));
        }

        long forgotten = IntStream.range(0, 100)
                .filter(i -> store.peek(List.of(policy.charge("user" + i, 3))).admitted())
                .count();
        assertThat(store.evictedActive("p")).isEqualTo(1_000).isGreaterThanOrEqualTo(forgotten);
        assertThat(forgotten).isLessThan(100);
    }

    @Test
    @DisplayName("D2 a flood by many threads stays within the bound and leaves exhausted keys exhausted")
    void flood_byManyThreads_staysWithinMaxKeys_andLeavesExhaustedKeysExhausted() throws InterruptedException {
        InMemoryStore store = store(100);
        Policy policy = Policy.of("p", TokenBucket.of(Rate.parse("3/hour")));
        IntStream.range(0, 50).forEach(i -> store.decide(List.of(policy.charge("victim" + i, 3))));
        AtomicInteger next = new AtomicInteger();
        AtomicLong maxKeys = new AtomicLong();
        AtomicInteger regained = new AtomicInteger();

        Threads.run(8, 10_000, () -> {
            int i = next.getAndIncrement();
            store.tryCharge(policy.charge("flood" + i));
            regained.addAndGet(store.tryCharge(policy.charge("victim" + i % 50)) ? 1 : 0);
            maxKeys.accumulateAndGet(store.keys("p"), Math::max);
        });

        assertThat(regained).hasValue(0);
        assertThat(maxKeys.get()).isLessThanOrEqualTo(100);
        assertThat(store.evictedActive("p")).isPositive();
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("D3 a table full of keys that are neither full nor exhausted gives a new key its own budget, once")
    void full_ofUsedKeys_newKeyHasABudget_andNoMoreThanThat(Limit limit) {
        InMemoryStore store = store(100);
        Policy policy = Policy.of("p", limit);
        IntStream.range(0, 100).forEach(i -> store.decide(List.of(policy.charge("used" + i, 2))));

        long admitted = IntStream.range(0, 50)
                .filter(i -> store.tryCharge(policy.charge("legitimate")))
                .count();

        assertThat(admitted).isEqualTo(3);
        assertThat(store.evictedActive("p")).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("D3 a table full of exhausted keys serves new keys from one budget")
    void full_ofExhaustedKeys_newKeysShareOneBudget(Limit limit) {
        InMemoryStore store = store(5);
        Policy policy = Policy.of("p", limit);
        IntStream.range(0, 5).forEach(i -> store.decide(List.of(policy.charge("exhausted" + i, 3))));

        long admitted = IntStream.range(0, 50)
                .filter(i -> store.tryCharge(policy.charge("new" + i)))
                .count();

        assertThat(admitted).isEqualTo(3);
        assertThat(store.decide(List.of(policy.charge("x"), policy.charge("y"))).admitted())
                .isFalse();
        ticker.advance(Duration.ofHours(2));
        assertThat(store.tryCharge(policy.charge("new50"))).isTrue();
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("D4 a flood of addresses does not affect the keys of other policies")
    void flood_ofOnePolicy_leavesTheOthersUntouched(Limit limit) {
        InMemoryStore store = store(300);
        Policy anonymous = Policy.of("anonymous", limit);
        Policy users = Policy.of("users", limit, TokenBucket.of(Rate.parse("9/day")));
        IntStream.range(0, 300).forEach(i -> store.decide(List.of(users.charge("user" + i, i % 4))));
        long keys = store.keys("users");

        for (int i = 0; i < 10_000; i++) {
            store.decide(List.of(anonymous.charge("user" + i, 1 + i % 3)));
        }

        for (int i = 0; i < 300; i++) {
            assertThat(store.peek(List.of(users.charge("user" + i)))).hasRemaining(3 - i % 4, 9 - i % 4);
        }
        assertThat(store.keys("users")).isEqualTo(keys);
        assertThat(store.evictedActive("users")).isZero();
        assertThat(store.evictedActive("anonymous")).isPositive();
    }
}
