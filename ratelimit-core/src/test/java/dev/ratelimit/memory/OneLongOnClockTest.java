package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A limit of a user's own on wall time whose state is one long: none of ours is. */
class OneLongOnClockTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private enum Way {
        KEY {
            @Override
            boolean charge(InMemoryStore store, Policy policy) {
                return store.tryCharge(policy, "k", 1);
            }
        },
        DECISION {
            @Override
            boolean charge(InMemoryStore store, Policy policy) {
                return store.decide(List.of(policy.charge("k"))).admitted();
            }
        };

        abstract boolean charge(InMemoryStore store, Policy policy);
    }

    private final SetTicker ticker = new SetTicker();
    private final InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();

    @ParameterizedTest
    @EnumSource
    void charge_refusedAfterStepBack_waitsForOnePeriodFromThen(Way way) {
        Policy policy = Policy.of("p", new PerSecond());
        ticker.advance(100 * SECOND);
        for (int i = 0; i < 5; i++) {
            assertThat(way.charge(store, policy)).isTrue();
        }

        ticker.advance(-50 * SECOND);
        boolean refused = !way.charge(store, policy);
        ticker.advance(SECOND);

        assertThat(refused).isTrue();
        assertThat(way.charge(store, policy)).isTrue();
    }

    /** Five permits per second of the clock; the state is the second, then the used permits in three bits. */
    private static final class PerSecond implements LimitAlgorithm {

        private static long second(long now) {
            return Math.floorDiv(now, SECOND);
        }

        private static long used(long state, long now) {
            return state >> 3 < second(now) ? 0 : state & 7;
        }

        /** A second in the future begins now. */
        private static long moved(long state, long now) {
            return state >> 3 > second(now) ? second(now) << 3 | (state & 7) : state;
        }

        @Override
        public Rate rate() {
            return Rate.parse("5/second");
        }

        @Override
        public long capacity() {
            return 5;
        }

        @Override
        public long replenishNanos() {
            return SECOND;
        }

        @Override
        public boolean wallClock() {
            return true;
        }

        @Override
        public int stateSize() {
            return 1;
        }

        @Override
        public void clear(long[] state, int at, long now) {
            state[at] = second(now) << 3;
        }

        @Override
        public boolean admits(long[] state, int at, long permits, long now) {
            state[at] = moved(state[at], now);
            return permits <= remaining(state, at, now);
        }

        @Override
        public void charge(long[] state, int at, long permits, long now) {
            state[at] = tryCharge(state[at], permits, now);
        }

        @Override
        public long tryCharge(long state, long permits, long now) {
            long used = used(state, now) + permits;
            return used > 5 ? REFUSED : second(now) << 3 | used;
        }

        @Override
        public void refund(long[] state, int at, long permits, long ageNanos, long now) {
            state[at] = second(now) << 3 | Math.max(0, used(state[at], now) - permits);
        }

        @Override
        public long remaining(long[] state, int at, long now) {
            return 5 - used(state[at], now);
        }

        @Override
        public long retryAfterNanos(long[] state, int at, long permits, long now) {
            return permits <= remaining(state, at, now) ? 0 : SECOND - Math.floorMod(now, SECOND);
        }

        @Override
        public long fullAfterNanos(long[] state, int at, long now) {
            return used(state[at], now) == 0 ? 0 : SECOND - Math.floorMod(now, SECOND);
        }
    }
}
