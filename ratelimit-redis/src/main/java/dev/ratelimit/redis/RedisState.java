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
    int numbers() {
        return limit().stateSize();
    }

    @Override
    final long remaining(long[] reply, int at, long now) {
        return limit().remaining(state(reply, at), 0, now * 1000);
    }

    @Override
    final long retryAfter(long[] reply, int at, long permits, long now) {
        return ceilDiv(limit().retryAfterNanos(state(reply, at), 0, permits, now * 1000), 1000);
    }

    @Override
    final long fullAfter(long[] reply, int at, long now) {
        return ceilDiv(limit().fullAfterNanos(state(reply, at), 0, now * 1000), 1000);
    }

    private long[] state(long[] reply, int at) {
        long[] state = Arrays.copyOfRange(reply, at, at + limit().stateSize());
        state[0] *= 1000;
        return state;
    }
}
