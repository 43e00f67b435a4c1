package dev.ratelimit.redis;

import dev.ratelimit.algorithm.SlidingLog;

/**
 * {@code sliding-log.lua}. It answers with the number of permits in the window, the admission time of the permit that
 * must expire to admit the requested ones, and the admission times of the first and last permit.
 */
final class RedisSlidingLog extends RedisLimit {

    /** Each decision reads and writes the whole log. */
    private static final long MAX_PERMITS = 10_000;

    private final long window;

    private RedisSlidingLog(SlidingLog limit, long window) {
        super(limit, Script.Algorithm.SLIDING_LOG, limit.capacity(), window, 0, "");
        this.window = window;
    }

    static RedisSlidingLog of(SlidingLog limit) {
        if (limit.capacity() > MAX_PERMITS) {
            throw new IllegalArgumentException(limit + ": on Redis a sliding log holds at most " + MAX_PERMITS
                    + " permits per window, because each decision reads and writes the whole log;"
                    + " use algorithm sliding-window");
        }
        return new RedisSlidingLog(limit, periodMicros(limit));
    }

    @Override
    int answers() {
        return 4;
    }

    @Override
    long remaining(long[] answer, int at, long now) {
        return limit().capacity() - answer[at];
    }

    /** Called only for the permits of the charge and for one more than remain. */
    @Override
    long retryAfter(long[] answer, int at, long permits, long now) {
        long remaining = remaining(answer, at, now);
        if (permits <= remaining) {
            return 0;
        }
        return (permits == remaining + 1 ? answer[at + 2] : answer[at + 1]) + window - now;
    }

    @Override
    long fullAfter(long[] answer, int at, long now) {
        return answer[at] == 0 ? 0 : answer[at + 3] + window - now;
    }
}
