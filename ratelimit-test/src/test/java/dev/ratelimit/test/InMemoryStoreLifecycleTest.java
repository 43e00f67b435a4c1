package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Closed stores, and several of them. */
class InMemoryStoreLifecycleTest {

    private static final Policy POLICY = Policy.of("p", TokenBucket.of(Rate.parse("3/minute")));

    private final FakeTicker ticker = new FakeTicker();

    private InMemoryStore store() {
        return InMemoryStore.builder().ticker(ticker).maxKeys(10).build();
    }

    @Test
    @DisplayName("H3 a store that is closed twice still limits, and sets no alarm")
    void close_twice_stillLimits_andSetsNoAlarm() {
        InMemoryStore store = store();
        store.close();
        store.close();

        assertThat(store.decide(List.of(POLICY.charge("k", 3)))).isAdmitted();
        assertThat(store.tryCharge(POLICY.charge("k"))).isFalse();
        assertThat(store.decide(List.of(POLICY.charge("k")))).isRefusedBy("p");
        assertThat(ticker.alarms()).isZero();
    }

    @Test
    void refund_ofAnotherKindOfStore_isRejected_andReturnsNothing() {
        InMemoryStore store = store();
        Decision own = store.decide(List.of(POLICY.charge("k", 2)));
        Decision other = new Decision(true, own.charges(), own.limits(), "the receipt of another store");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.refund(other))
                .withMessage("a decision must be refunded to the store that made it but was of another store");

        assertThat(store.peek(List.of(POLICY.charge("k")))).hasRemaining(1);
    }

    @Test
    @DisplayName("H3 a store that is closed cancels its alarm")
    void close_alarmSet_cancelsIt() {
        InMemoryStore store = store();
        store.tryCharge(POLICY.charge("k"));
        assertThat(ticker.alarms()).isEqualTo(1);

        store.close();

        assertThat(ticker.alarms()).isZero();
    }

    @Test
    @DisplayName("H3 a closed store keeps idle keys, but at most max-keys")
    void close_keepsIdleKeys_untilItIsFull() {
        InMemoryStore store = store();
        store.tryCharge(POLICY.charge("before"));
        store.close();

        ticker.advance(Duration.ofHours(1));
        assertThat(store.keys("p")).isEqualTo(1);
        assertThat(ticker.alarms()).isZero();
        for (int i = 0; i < 100; i++) {
            assertThat(store.tryCharge(POLICY.charge("k" + i))).isTrue();
        }

        assertThat(store.keys("p")).isEqualTo(10);
    }

    @Test
    void clear_forgetsAllKeysOfAllPolicies_alsoThoseInFrequentUse() {
        InMemoryStore store = store();
        Policy other = Policy.of("other", FixedWindow.of(Rate.parse("1/minute")), TokenBucket.of(Rate.parse("2/hour")));
        for (int i = 0; i < 10; i++) {
            assertThat(store.tryCharge(POLICY.charge("k"))).isEqualTo(i < 3);
            assertThat(store.tryCharge(other.charge("k"))).isEqualTo(i < 1);
        }

        store.clear();

        assertThat(store.keys("p") + store.keys("other")).isZero();
        assertThat(store.decide(List.of(POLICY.charge("k"), other.charge("k")))).isAdmitted();
        assertThat(store.tryCharge(POLICY.charge("k", 2))).isTrue();
        assertThat(store.tryCharge(POLICY.charge("k"))).isFalse();
    }

    @Test
    void clear_refundOfAnEarlierCharge_liftsNoKeyAboveFull() {
        InMemoryStore store = store();
        Reservation before = new RateLimiter(store, ticker).reserve(POLICY.charge("k", 3));

        store.clear();
        before.refund();

        assertThat(store.decide(List.of(POLICY.charge("k", 2)))).isAdmitted().hasRemaining(1);
    }

    @Test
    @DisplayName("H3 callers that wait when the store is closed are admitted or refused as usual")
    void close_whileSomebodyWaits_endsNoWaitAndHangsNone() {
        InMemoryStore store = store();
        RateLimiter limiter = new RateLimiter(store, ticker);
        limiter.decide(POLICY.charge("k", 3));
        CompletableFuture<Reservation> waiting = limiter.acquireAsync(Duration.ofMinutes(1), POLICY.charge("k", 3));

        store.close();
        ticker.advance(Duration.ofMinutes(1));

        assertThat(waiting.join()).isAdmitted();
        assertThat(limiter.acquireAsync(Duration.ofSeconds(59), POLICY.charge("k", 3))
                        .join())
                .isRefused();
        assertThat(ticker.alarms()).isZero();
    }

    @Test
    @DisplayName("H9 two stores of one JVM share no budget, no bound, no sweep and no close")
    void stores_ofOneJvm_shareNothing() {
        InMemoryStore first = store();
        InMemoryStore second = store();
        for (int i = 0; i < 100; i++) {
            first.decide(List.of(POLICY.charge("k" + i, 3)));
        }

        assertThat(second.keys("p")).isZero();
        assertThat(second.decide(List.of(POLICY.charge("k0", 3)))).isAdmitted();
        first.reset(POLICY, "k0");
        assertThat(second.tryCharge(POLICY.charge("k0"))).isFalse();
        first.close();
        ticker.advance(Duration.ofMinutes(2));

        assertThat(second.keys("p")).isZero();
        assertThat(first.keys("p")).isEqualTo(10);
    }

    @Test
    @DisplayName(
            "H9 two stores may have different limits for a policy of the same name, and refunds go to the charged store")
    void limiters_ofOneJvm_shareNothing() {
        RateLimiter first = new RateLimiter(store(), ticker);
        RateLimiter second = new RateLimiter(store(), ticker);
        Policy other = Policy.of("p", FixedWindow.of(Rate.parse("1/minute")));
        Reservation taken = first.reserve(POLICY.charge("k", 3));
        assertThat(second.tryAcquire(other.charge("k"))).isTrue();

        assertThat(taken.refund()).isTrue();

        assertThat(first.peek(POLICY.charge("k"))).hasRemaining(3);
        assertThat(second.peek(other.charge("k"))).hasRemaining(0);
    }
}
