package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.faults.Fuse;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A key may be a secret, such as an API key: the store keeps its hash. */
class ForgottenKeysTest {

    private static final Policy ONE = Policy.of("one", TokenBucket.of(Rate.parse("20/hour")));
    private static final Policy TWO =
            Policy.of("two", TokenBucket.of(Rate.parse("5/hour")), FixedWindow.of(Rate.parse("7/day")));

    private final Fuse.Clock clock = new Fuse().new Clock();
    private final InMemoryStore store =
            InMemoryStore.builder().ticker(clock).maxKeys(100).build();

    /** Uses a key that nobody else refers to. */
    private static WeakReference<String> used(Consumer<String> call) {
        String key = String.join("-", "a", "secret");
        call.accept(key);
        return new WeakReference<>(key);
    }

    private static void assertForgotten(WeakReference<String> key) {
        for (int i = 0; i < 20 && key.get() != null; i++) {
            System.gc();
        }
        assertThat(key.get()).isNull();
    }

    private static List<Charge> both(String key) {
        return List.of(ONE.charge(key), TWO.charge(key, 2));
    }

    @Test
    void calls_keepNoKeys() {
        assertForgotten(used(key -> store.decide(List.of(TWO.charge(key, 2)))));
        assertForgotten(used(key -> store.tryCharge(TWO, key, 1)));
        assertForgotten(used(key -> store.peek(both(key))));
        assertForgotten(used(key -> store.reset(TWO, key)));
    }

    @Test
    void decisions_keepKeysUntilTheNextSweepAtMost() {
        assertForgottenBySweep(used(key -> store.decide(both(key))));
        assertForgottenBySweep(used(key -> store.tryCharge(both(key))));
        assertForgottenBySweep(used(key -> store.refund(store.decide(both(key)))));
    }

    private void assertForgottenBySweep(WeakReference<String> key) {
        clock.advance(Duration.ofSeconds(30).toNanos());
        clock.ringOnce();
        assertForgotten(key);
    }

    @Test
    void sweep_forgetsKeysInFrequentUse() {
        assertForgottenBySweep(used(name -> charge(ONE, name)));
    }

    @Test
    void close_forgetsKeysInFrequentUse_andKeepsNoMore() {
        WeakReference<String> key = used(name -> charge(ONE, name));

        store.close();

        assertForgotten(key);
        assertForgotten(used(name -> charge(ONE, name)));
    }

    @Test
    void changedLimit_forgetsTheSlotOfTheFormer() {
        Policy changed = Policy.of("one", TokenBucket.of(Rate.parse("50/hour")));
        WeakReference<String> key = used(name -> charge(ONE, name));

        assertThat(store.tryCharge(changed, "a-secret", 1)).isTrue();
        assertThat(store.tryCharge(ONE, "a-secret", 1)).isTrue();

        assertForgotten(key);
    }

    /** Often enough to be found without a look-up. */
    private void charge(Policy policy, String key) {
        for (int i = 0; i < 3; i++) {
            assertThat(store.tryCharge(policy, key, 1)).isTrue();
        }
    }

    @Test
    void keyInFrequentUse_isChargedNoNegativeNumber_andAskedWithNone() {
        charge(ONE, "k");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.tryCharge(ONE, "k", -5))
                .withMessage("permits must be at least 0 but was -5");
        assertThat(store.tryCharge(ONE, "k", 0)).isTrue();

        assertThat(store.tryCharge(ONE, "k", 18)).isFalse();
        assertThat(store.tryCharge(ONE, "k", 17)).isTrue();
    }
}
