package dev.ratelimit.redis;

import dev.ratelimit.algorithm.SlidingLog;

/**
 * {@code sliding-log.lua}. It answers how many permits count, when the one was admitted that has to expire for the
 * permits asked, and when the first and the last one.
 */
final class RedisSlidingLog extends RedisLimit {

    /** A log is read and written whole. */
    private static final long MOST_PERMITS = 10_000;

    private final long window;

    private RedisSlidingLog(SlidingLog limit, long window) {
        super(limit, Script.Algorithm.SLIDING_LOG, limit.capacity(), window, 0, "");
        this.window = window;
    }

    static RedisSlidingLog of(SlidingLog limit) {
        if (limit.capacity() > MOST_PERMITS) {
            throw new IllegalArgumentException(limit + ": on Redis a sliding log takes at most " + MOST_PERMITS
                    + " permits a window, since each decision reads and writes it; use algorithm sliding-window");
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

    /** Asked only for the permits of the charge, and for one more than remain. */
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
