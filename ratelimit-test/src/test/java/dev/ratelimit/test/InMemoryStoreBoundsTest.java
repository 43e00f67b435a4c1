package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory is bounded, and idle keys are dropped. */
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

    @ParameterizedTest
    @ValueSource(ints = {2, 30, 3650})
    @DisplayName("keys with windows from before a step back of the clock are dropped after one period")
    void idle_clockSetBack_emptiesItself(int days) {
        InMemoryStore store = store(100);
        Policy policy = Policy.of("p", FixedWindow.onClock(Rate.parse("3/hour"), ZoneOffset.UTC));
        for (int i = 0; i < 100; i++) {
            store.tryCharge(policy.charge("k" + i, 3));
        }

        ticker.setWallClock(Duration.ofDays(-days));
        ticker.advance(Duration.ofMinutes(62));

        assertThat(store.keys("p")).isZero();
    }

    @Test
    @DisplayName("in a full store, a new key that looks for a slot also notices the step")
    void full_clockSetBack_newKeysFindPlacesAfterOnePeriod() {
        InMemoryStore store = store(10);
        store.close();
        Policy policy = Policy.of("p", FixedWindow.onClock(Rate.parse("3/hour"), ZoneOffset.UTC));
        for (int i = 0; i < 10; i++) {
            store.tryCharge(policy.charge("k" + i, 3));
        }
        ticker.setWallClock(Duration.ofDays(-30));
        assertThat(store.tryCharge(policy.charge("looks for a place", 3))).isTrue();

        ticker.advance(Duration.ofHours(1));
        for (int i = 0; i < 10; i++) {
            assertThat(store.tryCharge(policy.charge("new" + i, 3))).isTrue();
        }

        assertThat(store.evictedFull("p")).isEqualTo(10);
    }

    @Test
    @DisplayName("so does a refund: a key without further questions is full after one period")
    void refund_clockSetBack_isFullAfterOnePeriod() {
        InMemoryStore store = store(10);
        store.close();
        Policy policy = Policy.of("p", FixedWindow.onClock(Rate.parse("3/hour"), ZoneOffset.UTC));
        store.tryCharge(policy.charge("k"));
        Decision decision = store.decide(List.of(policy.charge("k")));

        ticker.setWallClock(Duration.ofDays(-30));
        store.refund(decision);
        ticker.advance(Duration.ofHours(1));

        assertThat(store.peek(List.of(policy.charge("k")))).hasRemaining(3);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 100, 20_000})
    void maxBytes_storeIsFull_isNotExceeded(int maxKeys) {
        Rate rate = Rate.parse("1/hour");
        for (Limit limit : List.of(TokenBucket.of(rate), FixedWindow.of(rate), SlidingWindow.of(rate))) {
            Policy policy = Policy.of("p", limit);
            InMemoryStore store = store(maxKeys);
            for (int i = 0; i < 2 * maxKeys; i++) {
                store.tryCharge(policy.charge("k" + i));
            }

            assertThat(store.bytes("p")).isLessThanOrEqualTo(store.maxBytes(policy));
        }
    }

    @Test
    @Tag("slow")
    @DisplayName("however many limits a program creates, overflow budgets use bounded memory")
    void bytes_overflowOfManyLimits_isBounded() {
        InMemoryStore store = store(1);
        store.tryCharge(Policy.of("p", bucket(1)).charge("exhausted"));

        for (int permits = 2; permits < 250_000; permits++) {
            store.tryCharge(Policy.of("p", bucket(permits)), "k", permits);
        }

        assertThat(store.bytes("p")).isLessThan(3_000_000);
    }

    @Test
    void maxKeys_belowOne_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> InMemoryStore.builder().maxKeys(0))
                .withMessage("maxKeys must be at least 1 but was 0");
    }

    @Test
    @DisplayName("A14 keys of one policy under many limits, such as plans, keep their own")
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

    private static Limit bucket(int permits) {
        return TokenBucket.of(Rate.of(permits, Duration.ofDays(1)));
    }

    private static Policy plan(int permits) {
        return Policy.of("p", TokenBucket.of(Rate.parse(permits + "/second")));
    }
}
