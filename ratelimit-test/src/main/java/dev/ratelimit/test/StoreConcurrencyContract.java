package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Reservation;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The part of the {@link RateLimitStoreContract} on permits that are held, and come back when they are refunded. */
@SuppressWarnings("CheckReturnValue") // charges prepare the state of keys
abstract class StoreConcurrencyContract extends StoreTimeContract {

    private static final Policy THREE = Policy.of("held", Concurrency.of(3));

    private Decision take(Policy policy) {
        return limiter.decide(policy.charge("k"));
    }

    @Test
    void concurrency_beyondTheLimit_refusesUntilOneIsRefunded() {
        List<Decision> held = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            held.add(take(THREE));
            ticker.advance(Duration.ofSeconds(2));
        }

        Decision refused = take(THREE);
        store.refund(held.get(1));

        assertThat(refused).isRefused();
        assertThat(refused.retryAfter()).isEqualTo(Concurrency.MAX_RETRY);
        assertThat(refused.limits().get(0).remaining()).isZero();
        assertThat(take(THREE)).isAdmitted();
        assertThat(take(THREE)).isRefused();
    }

    @Test
    void concurrency_doesNotComeBackWithTime_beforeMaxHold() {
        Policy short3 = Policy.of("short", Concurrency.of(3, Duration.ofSeconds(10)));
        for (int i = 0; i < 3; i++) {
            take(short3);
        }

        ticker.advance(Duration.ofSeconds(10).minus(resolution()));
        Decision refused = take(short3);
        ticker.advance(resolution());

        assertThat(refused).isRefused();
        assertThat(refused.retryAfter()).isEqualTo(resolution());
        for (int i = 0; i < 3; i++) {
            assertThat(take(short3)).isAdmitted();
        }
        assertThat(take(short3)).isRefused();
    }

    @Test
    void concurrency_refundAfterMaxHold_freesNobodyElsesPermit() {
        Policy one = Policy.of("one", Concurrency.of(1, Duration.ofSeconds(10)));
        Decision lost = take(one);
        ticker.advance(Duration.ofSeconds(10));
        take(one);

        store.refund(lost);

        assertThat(take(one)).isRefused();
    }

    @Test
    void concurrency_besideARate_isRefundedAlone() {
        Policy rate = Policy.of("rate", TokenBucket.of(Rate.parse("5/hour")));
        Decision both = limiter.decide(rate.charge("k"), THREE.charge("k"));

        store.refund(both, List.of(THREE.charge("k")));

        assertThat(limiter.inspect(rate, "k").get(0).remaining()).isEqualTo(4);
        assertThat(limiter.inspect(THREE, "k").get(0).remaining()).isEqualTo(3);
    }

    @Test
    void concurrency_lowered_admitsNobodyUntilFewerAreHeld() {
        Deque<Decision> held = new ArrayDeque<>();
        Policy ten = Policy.of("changed", Concurrency.of(10));
        Policy two = Policy.of("changed", Concurrency.of(2));
        for (int i = 0; i < 6; i++) {
            held.add(take(ten));
            ticker.advance(Duration.ofMillis(1));
        }

        for (int i = 0; i < 4; i++) {
            assertThat(take(two)).isRefused();
            store.refund(held.remove());
        }
        assertThat(take(two)).isRefused();
        store.refund(held.remove());

        assertThat(take(two)).isAdmitted();
        assertThat(take(two)).isRefused();
    }

    @Test
    void concurrency_raised_admitsMoreAtOnce_andLoweredAgainCountsThem() {
        Policy two = Policy.of("changed", Concurrency.of(2));
        Policy ten = Policy.of("changed", Concurrency.of(10));
        take(two);
        take(two);

        int admitted = 0;
        for (int i = 0; i < 20; i++) {
            admitted += take(ten).admitted() ? 1 : 0;
        }

        assertThat(admitted).isEqualTo(8);
        assertThat(take(two)).isRefused();
        assertThat(limiter.inspect(ten, "k").get(0).remaining()).isZero();
    }

    @Test
    void concurrency_manyCallers_neverHoldMoreThanTheLimit() {
        Random random = new Random(7);
        List<Reservation> held = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            ticker.advance(Duration.ofMillis(random.nextInt(20)));
            if (random.nextBoolean() && !held.isEmpty()) {
                held.remove(random.nextInt(held.size())).refund();
            } else {
                Reservation reservation = limiter.reserve(THREE.charge("k"));
                assertThat(reservation.admitted()).isEqualTo(held.size() < 3);
                if (reservation.admitted()) {
                    held.add(reservation);
                }
            }
        }
    }
}
