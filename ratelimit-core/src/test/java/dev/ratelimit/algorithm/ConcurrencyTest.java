package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitState;
import dev.ratelimit.Rate;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What {@code StoreConcurrencyContract} does not see; it has the behaviour in a store. */
class ConcurrencyTest {

    private static final long NOW = Duration.ofDays(20_000).toNanos();

    @Test
    void of_parameters_areShownAndCompared() {
        Concurrency limit = Concurrency.of(20);

        assertThat(limit)
                .hasToString("20 at once (concurrency, max-hold 10m)")
                .isEqualTo(Concurrency.of(20, Duration.ofMinutes(10)))
                .hasSameHashCodeAs(Concurrency.of(20, Duration.ofMinutes(10)))
                .isNotEqualTo(Concurrency.of(20, Duration.ofMinutes(9)))
                .isNotEqualTo(SlidingLog.of(Rate.parse("20/10m")));
        assertThat(Concurrency.of(1, Duration.ofDays(1))).hasToString("1 at once (concurrency, max-hold 1d)");
        assertThat(limit.describe()).isEqualTo("20 at once");
        assertThat(limit.concurrency()).isTrue();
        assertThat(limit.scaled(0.1)).isEqualTo(Concurrency.of(2));
    }

    @Test
    void of_noPermits_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Concurrency.of(0))
                .withMessage("permits must be at least 1 but was 0");
    }

    @Test
    void refund_afterTheLimitWasLowered_returnsPermitsOneByOne() {
        Concurrency ten = Concurrency.of(10);
        Concurrency three = Concurrency.of(3);
        long[] state = charged(ten, 8);

        state = new LimitState(ten, state, 0).carriedTo(three, NOW + 5, NOW + 5);

        for (int held = 8; held > 3; held--) {
            assertThat(three.remaining(state, 0, NOW + 5)).isZero();
            new LimitState(three, state, 0).refund(ten, 1, 5, NOW + 5);
        }
        assertThat(three.remaining(state, 0, NOW + 5)).isZero();
        new LimitState(three, state, 0).refund(ten, 1, 5, NOW + 5);
        assertThat(three.remaining(state, 0, NOW + 5)).isEqualTo(1);
    }

    @Test
    void grow_moreHeldThanTheLimit_keepsAll() {
        Concurrency ten = Concurrency.of(10);
        Concurrency one = Concurrency.of(1);
        long[] state = new LimitState(ten, charged(ten, 9), 0).carriedTo(one, NOW, NOW);

        state = one.grow(state, 0, 1, NOW);
        new LimitState(one, state, 0).refund(ten, 8, 0, NOW);

        assertThat(one.remaining(state, 0, NOW)).isZero();
        assertThat(one.fullAfterNanos(state, 0, NOW)).isEqualTo(ten.replenishNanos());
    }

    @Test
    void adopt_permitHeldForTooLong_staysFree_evenIfPermitsMayNowBeHeldLonger() {
        Concurrency brief = Concurrency.of(3, Duration.ofSeconds(1));
        Concurrency patient = Concurrency.of(3, Duration.ofHours(1));
        long later = NOW + Duration.ofSeconds(1).toNanos();

        long[] state = new LimitState(brief, charged(brief, 2), 0).carriedTo(patient, later, later);

        assertThat(patient.remaining(state, 0, later)).isEqualTo(3);
    }

    @Test
    void refund_chargedAfterTheClockWasSetBack_returnsItsPermits() {
        Key key = new Key(Concurrency.of(6), NOW);
        key.charge(2, NOW + 30);
        key.charge(1, NOW + 10);
        key.charge(3, NOW + 20);

        key.refund(3, 20, NOW + 40);
        assertThat(key.remaining(NOW + 40)).isEqualTo(3);
        key.refund(1, -5, NOW + 5);
        assertThat(key.remaining(NOW + 40)).isEqualTo(4);
        key.refund(2, 10, NOW + 40);
        assertThat(key.remaining(NOW + 40)).isEqualTo(6);
    }

    private static long[] charged(LimitAlgorithm limit, long permits) {
        long[] state = new long[limit.stateSize()];
        limit.clear(state, 0, NOW);
        state = limit.grow(state, 0, permits, NOW);
        limit.charge(state, 0, permits, NOW);
        return state;
    }
}
