package dev.ratelimit.redis;

import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.IntervalTokenBucket;
import dev.ratelimit.algorithm.SlidingWindow;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * {@code fixed-window.lua}, {@code sliding-window.lua} and {@code token-bucket-interval.lua}: their answers are a time and
 * counts, the state that core's own functions take.
 */
final class RedisWindow extends RedisLimit {

    private static final int FIRST_PERMIT = 0;
    private static final int CLOCK = 1;
    private static final int CALENDAR = 2;
    private static final long SKEW_NANOS = Duration.ofDays(2).toNanos();

    private final @Nullable FixedWindow calendar;
    private final int answers;

    private RedisWindow(Limit limit, Script.Algorithm algorithm, int answers, long second, long third) {
        super(limit, algorithm, limit.capacity(), second, third, "");
        this.answers = answers;
        this.calendar = null;
    }

    private RedisWindow(FixedWindow limit, ZoneId zone) {
        super(
                limit,
                Script.Algorithm.FIXED_WINDOW,
                limit.capacity(),
                periodMicros(limit),
                CALENDAR,
                zone + " " + limit.rate().period());
        this.answers = 3;
        this.calendar = limit;
    }

    static RedisWindow of(IntervalTokenBucket limit) {
        return new RedisWindow(
                limit, Script.Algorithm.TOKEN_BUCKET_INTERVAL, 2, limit.rate().permits(), periodMicros(limit));
    }

    static RedisWindow of(SlidingWindow limit) {
        int floor = limit.rounding() == SlidingWindow.Rounding.FLOOR ? 1 : 0;
        return new RedisWindow(limit, Script.Algorithm.SLIDING_WINDOW, 3, periodMicros(limit), floor);
    }

    static RedisWindow of(FixedWindow limit) {
        ZoneId zone = limit.zone();
        if (zone != null && (limit.rate().perMonth() || !zone.equals(ZoneOffset.UTC))) {
            return new RedisWindow(limit, zone);
        }
        int align = limit.wallClock() ? CLOCK : FIRST_PERMIT;
        return new RedisWindow(limit, Script.Algorithm.FIXED_WINDOW, 3, periodMicros(limit), align);
    }

    /** The start of the window of this time, and what ends between two days before and two after: clocks may differ. */
    @Override
    long[] boundaries(long nowMicros) {
        if (calendar == null) {
            return super.boundaries(nowMicros);
        }
        LongStream.Builder boundaries = LongStream.builder();
        long boundary = nowMicros * 1000 - calendar.replenishNanos() - SKEW_NANOS;
        while (boundary <= nowMicros * 1000 + SKEW_NANOS) {
            boundary = calendar.windowEnd(boundary);
            boundaries.add(boundary / 1000);
        }
        return boundaries.build().toArray();
    }

    @Override
    int answers() {
        return answers;
    }

    @Override
    long remaining(long[] answer, int at, long now) {
        return limit().remaining(state(answer, at), 0, now * 1000);
    }

    @Override
    long retryAfter(long[] answer, int at, long permits, long now) {
        return ceilDiv(limit().retryAfterNanos(state(answer, at), 0, permits, now * 1000), 1000);
    }

    @Override
    long fullAfter(long[] answer, int at, long now) {
        return ceilDiv(limit().fullAfterNanos(state(answer, at), 0, now * 1000), 1000);
    }

    private static long[] state(long[] answer, int at) {
        return new long[] {answer[at] * 1000, answer[at + 1], at + 2 < answer.length ? answer[at + 2] : 0};
    }
}
