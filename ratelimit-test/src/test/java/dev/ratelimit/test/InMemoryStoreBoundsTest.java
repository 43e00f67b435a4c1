package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Memory is bounded, and the bound is no way around a limit. */
class InMemoryStoreBoundsTest {

    private final FakeTicker ticker = new FakeTicker();

    static Stream<Limit> limits() {
        Rate rate = Rate.parse("3/hour");
        return Stream.of(TokenBucket.of(rate), FixedWindow.of(rate), SlidingLog.of(rate));
    }

    private InMemoryStore store(int maxKeys) {
        return InMemoryStore.builder().ticker(ticker).maxKeys("p", maxKeys).build();
    }

    @ParameterizedTest
    @MethodSource("limits")
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

    @Test
    void full_keysThatAreFullAgain_areDroppedFirst() {
        InMemoryStore store = store(10);
        Policy policy = Policy.of("p", FixedWindow.of(Rate.parse("3/second")));
        for (int i = 0; i < 10; i++) {
            store.tryCharge(policy.charge("old" + i));
        }
        ticker.advance(Duration.ofSeconds(1));
        for (int i = 0; i < 10; i++) {
            store.tryCharge(policy.charge("new" + i));
        }

        assertThat(store.evictedFull("p")).isEqualTo(10);
        assertThat(store.evictedActive("p")).isZero();
    }

    @Test
    void full_ofExhaustedKeys_newKeysShareOneBudget() {
        InMemoryStore store = store(5);
        Policy policy = Policy.of("p", TokenBucket.of(Rate.parse("3/hour")));
        for (int i = 0; i < 5; i++) {
            store.decide(List.of(policy.charge("exhausted" + i, 3)));
        }

        int admitted = 0;
        for (int i = 0; i < 50; i++) {
            admitted += store.tryCharge(policy.charge("new" + i)) ? 1 : 0;
        }

        assertThat(admitted).isEqualTo(3);
        assertThat(store.decide(List.of(policy.charge("x"), policy.charge("y"))).admitted())
                .isFalse();
        ticker.advance(Duration.ofHours(1));
        assertThat(store.tryCharge(policy.charge("new50"))).isTrue();
    }

    @Test
    void refused_chainLeavesNoEntries() {
        InMemoryStore store = store(5);
        Policy tight = Policy.of("tight", FixedWindow.of(Rate.parse("1/hour")));
        Policy policy = Policy.of("p", FixedWindow.of(Rate.parse("1/hour")));
        store.tryCharge(tight.charge());

        for (int i = 0; i < 5; i++) {
            store.decide(List.of(policy.charge("k" + i), tight.charge()));
        }

        assertThat(store.keys("p")).isZero();
    }

    @Test
    @DisplayName("D6 100,000 keys of one hash code keep their own budgets")
    void keys_ofOneHashCode_haveBudgetsOfTheirOwn() {
        InMemoryStore store = store(1_000_000);
        Policy policy = Policy.of("p", TokenBucket.of(Rate.parse("1/hour")));
        Set<Integer> hashes = new HashSet<>();
        for (int i = 0; i < 1 << 17; i++) {
            StringBuilder key = new StringBuilder();
            for (int bit = 0; bit < 17; bit++) {
                key.append((i >> bit & 1) == 0 ? "Aa" : "BB");
            }
            hashes.add(key.toString().hashCode());
            assertThat(store.tryCharge(policy.charge(key.toString()))).isTrue();
            assertThat(store.tryCharge(policy.charge(key.toString()))).isFalse();
        }

        assertThat(hashes).hasSize(1);
        assertThat(store.keys("p")).isEqualTo(1 << 17);
    }

    @Test
    @DisplayName("D11 an idle store empties itself, and then neither an alarm nor a thread is left")
    void idle_emptiesItself() {
        InMemoryStore store = store(1_000);
        Policy policy = Policy.of("p", TokenBucket.of(Rate.parse("3/minute")));
        for (int i = 0; i < 500; i++) {
            store.tryCharge(policy.charge("k" + i));
        }
        assertThat(ticker.alarms()).isEqualTo(1);

        ticker.advance(Duration.ofMinutes(2));

        assertThat(store.keys("p")).isZero();
        assertThat(ticker.alarms()).isZero();
        assertThat(Thread.getAllStackTraces().entrySet())
                .filteredOn(thread -> !thread.getKey().equals(Thread.currentThread()))
                .noneMatch(thread -> Stream.of(thread.getValue())
                        .anyMatch(frame -> frame.getClassName().startsWith("dev.ratelimit")));
    }

    @Test
    void closed_setsNoAlarm() {
        InMemoryStore store = store(10);
        store.close();
        store.close();

        assertThat(store.tryCharge(
                        Policy.of("p", TokenBucket.of(Rate.parse("3/minute"))).charge("k")))
                .isTrue();
        assertThat(ticker.alarms()).isZero();
    }

    @Test
    void maxKeys_belowOne_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> InMemoryStore.builder().maxKeys(0))
                .withMessage("maxKeys must be at least 1 but was 0");
    }
}
