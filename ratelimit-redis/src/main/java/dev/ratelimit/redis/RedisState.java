package dev.ratelimit.redis;

import dev.ratelimit.LimitAlgorithm;
import java.util.Arrays;

/** A limit whose Lua file answers with the state of the limit in ratelimit-core: a time, then counts. */
class RedisState extends RedisLimit {

    /** Creates a limit with the second and third parameter of its algorithm; the first is the capacity. */
    RedisState(LimitAlgorithm limit, Script.Algorithm algorithm, long second, long third) {
        this(limit, algorithm, second, third, "");
    }

    RedisState(LimitAlgorithm limit, Script.Algorithm algorithm, long second, long third, String calendar) {
        super(limit, algorithm, limit.capacity(), second, third, calendar);
    }

    @Override
    int answers() {
        return limit().stateSize();
    }

    @Override
    final long remaining(long[] answer, int at, long now) {
        return limit().remaining(state(answer, at), 0, now * 1000);
    }

    @Override
    final long retryAfter(long[] answer, int at, long permits, long now) {
        return ceilDiv(limit().retryAfterNanos(state(answer, at), 0, permits, now * 1000), 1000);
    }

    @Override
    final long fullAfter(long[] answer, int at, long now) {
        return ceilDiv(limit().fullAfterNanos(state(answer, at), 0, now * 1000), 1000);
    }

    private long[] state(long[] answer, int at) {
        long[] state = Arrays.copyOfRange(answer, at, at + limit().stateSize());
        state[0] *= 1000;
        return state;
    }
}
