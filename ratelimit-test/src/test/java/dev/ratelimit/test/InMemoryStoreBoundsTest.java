package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Memory is bounded, and what is idle goes. */
class InMemoryStoreBoundsTest {

    private final FakeTicker ticker = new FakeTicker();

    private InMemoryStore store(int maxKeys) {
        return InMemoryStore.builder().ticker(ticker).maxKeys("p", maxKeys).build();
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
    void maxKeys_belowOne_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> InMemoryStore.builder().maxKeys(0))
                .withMessage("maxKeys must be at least 1 but was 0");
    }

    @Test
    @DisplayName("A14 keys of one policy under many limits, as plans have them, keep each its own")
    void decide_manyLimitsOfOnePolicy_keysKeepTheirOwn() {
        InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
        Policy daily = Policy.of("p", TokenBucket.of(Rate.parse("1/day")));
        assertThat(store.tryCharge(daily.charge("exhausted"))).isTrue();

        for (int plan = 1; plan <= 300; plan++) {
            assertThat(store.tryCharge(plan(plan).charge("of plan " + plan, plan)))
                    .isTrue();
        }
        for (int plan = 1; plan <= 300; plan++) {
            assertThat(store.tryCharge(plan(plan).charge("of plan " + plan))).isFalse();
            assertThat(store.tryCharge(plan(plan).charge("another " + plan, plan)))
                    .isTrue();
        }
        ticker.advance(Duration.ofMinutes(1));

        assertThat(store.tryCharge(daily.charge("exhausted"))).isFalse();
        assertThat(store.tryCharge(plan(300).charge("of plan 300", 300))).isTrue();
    }

    private static Policy plan(int permits) {
        return Policy.of("p", TokenBucket.of(Rate.parse(permits + "/second")));
    }
}
