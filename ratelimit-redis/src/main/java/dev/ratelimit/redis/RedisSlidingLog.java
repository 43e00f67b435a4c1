package dev.ratelimit.redis;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.SlidingLog;

/**
 * {@code sliding-log.lua}, and {@code concurrency.lua}, whose state is a log, too. Both answer with the number of permits
 * in the window, and the admission times of the permits that must expire to admit the requested ones and one more than
 * remain, and of the last one.
 */
final class RedisSlidingLog extends RedisLimit {

    /** Each decision reads and writes the whole log. */
    private static final long MAX_PERMITS = 10_000;

    private final long window;
    private final long maxWait;

    private RedisSlidingLog(LimitAlgorithm limit, Script.Algorithm algorithm, long window, long maxWait) {
        super(limit, algorithm, limit.capacity(), window, 0, "");
        this.window = window;
        this.maxWait = maxWait;
    }

    static RedisSlidingLog of(SlidingLog limit) {
        if (limit.capacity() > MAX_PERMITS) {
            throw new IllegalArgumentException(limit + ": on Redis a sliding log holds at most " + MAX_PERMITS
                    + " permits per window, because each decision reads and writes the whole log;"
                    + " use algorithm sliding-window");
        }
        long window = periodMicros(limit);
        return new RedisSlidingLog(limit, Script.Algorithm.SLIDING_LOG, window, window);
    }

    static RedisSlidingLog of(Concurrency limit) {
        if (limit.capacity() > MAX_PERMITS) {
            throw new IllegalArgumentException(limit + ": on Redis at most " + MAX_PERMITS
                    + " permits can be held at once, because each decision reads and writes the time of each");
        }
        return new RedisSlidingLog(
                limit, Script.Algorithm.CONCURRENCY, periodMicros(limit), Concurrency.MAX_RETRY.toNanos() / 1000);
    }

    @Override
    int numbers() {
        return 4;
    }

    @Override
    long remaining(long[] reply, int at, long now) {
        // more may be held under a former concurrency limit
        return Math.max(0, limit().capacity() - reply[at]);
    }

    /** Called only for the permits of the charge and for one more than remain. */
    @Override
    long retryAfter(long[] reply, int at, long permits, long now) {
        if (permits <= limit().capacity() - reply[at]) {
            return 0;
        }
        boolean next = permits == remaining(reply, at, now) + 1;
        return Math.min(maxWait, (next ? reply[at + 2] : reply[at + 1]) + window - now);
    }

    @Override
    long fullAfter(long[] reply, int at, long now) {
        return reply[at] == 0 ? 0 : reply[at + 3] + window - now;
    }
}
