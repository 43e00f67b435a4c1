package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitState;

/** The state of one key under a limit, used directly: what a store does, without a store. */
final class Key {

    private final LimitAlgorithm limit;
    private long[] state;

    Key(LimitAlgorithm limit, long now) {
        this.limit = limit;
        this.state = new long[limit.stateSize()];
        limit.clear(state, 0, now);
    }

    private Key(LimitAlgorithm limit, long[] state) {
        this.limit = limit;
        this.state = state;
    }

    Key copy() {
        return new Key(limit, state.clone());
    }

    /** The key after its limit has been replaced; nothing is written if the new limit cannot use the state. */
    Key adoptedBy(LimitAlgorithm changed, long now) {
        Key adopted = new Key(changed, now);
        assertThat(changed.adopt(adopted.state, 0, limit, state, now)).isTrue();
        return adopted;
    }

    /** The key after its limit has been replaced by one on the same clock. */
    Key carriedTo(LimitAlgorithm changed, long now) {
        return new Key(changed, new LimitState(limit, state, 0).carriedTo(changed, now, now));
    }

    void refund(Limit paid, long permits, long ageNanos, long now) {
        new LimitState(limit, state, 0).refund(paid, permits, ageNanos, now);
    }

    boolean admits(long permits, long now) {
        return limit.admits(state, 0, permits, now);
    }

    boolean charge(long permits, long now) {
        boolean admitted = admits(permits, now);
        long swapped = limit.stateSize() == 1 ? limit.tryCharge(state[0], permits, now) : LimitAlgorithm.REFUSED;
        if (admitted && permits > 0) {
            state = limit.grow(state, 0, permits, now);
            limit.charge(state, 0, permits, now);
        }
        if (limit.stateSize() == 1 && permits > 0) {
            assertThat(swapped).isEqualTo(admitted ? state[0] : LimitAlgorithm.REFUSED);
        }
        return admitted;
    }

    void refund(long permits, long ageNanos, long now) {
        limit.refund(state, 0, permits, ageNanos, now);
    }

    long remaining(long now) {
        return limit.remaining(state, 0, now);
    }

    long retryAfter(long permits, long now) {
        return limit.retryAfterNanos(state, 0, permits, now);
    }

    long nextAvailable(long now) {
        long remaining = limit.remaining(state, 0, now);
        return remaining >= limit.capacity() ? 0 : limit.retryAfterNanos(state, 0, remaining + 1, now);
    }

    long fullAfter(long now) {
        return limit.fullAfterNanos(state, 0, now);
    }

    long[] snapshot() {
        return state.clone();
    }

    @Override
    public String toString() {
        return limit.toString();
    }
}
