package dev.ratelimit.redis;

import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.IntervalTokenBucket;
import dev.ratelimit.algorithm.SlidingWindow;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Locale;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * {@code fixed-window.lua}, {@code sliding-window.lua} and {@code token-bucket-interval.lua}: their answers are a time and
 * counts, the state that core's own functions take.
 */
final class RedisWindow extends RedisLimit {

    private final @Nullable FixedWindow calendar;
    private final int answers;

    private RedisWindow(
            Limit limit, Script.Algorithm algorithm, long second, String third, @Nullable FixedWindow calendar) {
        super(limit, algorithm, limit.capacity(), second, third);
        this.calendar = calendar;
        this.answers = algorithm == Script.Algorithm.TOKEN_BUCKET_INTERVAL ? 2 : 3;
    }

    static RedisWindow of(IntervalTokenBucket limit) {
        return new RedisWindow(
                limit,
                Script.Algorithm.TOKEN_BUCKET_INTERVAL,
                limit.rate().permits(),
                Long.toString(periodMicros(limit)),
                null);
    }

    static RedisWindow of(SlidingWindow limit) {
        String rounding = limit.rounding().name().toLowerCase(Locale.ROOT);
        return new RedisWindow(limit, Script.Algorithm.SLIDING_WINDOW, periodMicros(limit), rounding, null);
    }

    static RedisWindow of(FixedWindow limit) {
        ZoneId zone = limit.zone();
        boolean calendar = zone != null && (limit.rate().perMonth() || !zone.equals(ZoneOffset.UTC));
        String align = limit.wallClock() ? "clock" : "first";
        return new RedisWindow(
                limit,
                Script.Algorithm.FIXED_WINDOW,
                periodMicros(limit),
                calendar ? zone + " " + limit.rate().period() : align,
                calendar ? limit : null);
    }

    /** For windows that follow a calendar, their boundaries around this time, two windows and more to each side. */
    @Override
    String third(long nowMicros) {
        if (calendar == null) {
            return super.third(nowMicros);
        }
        long lookBack = 2 * calendar.replenishNanos();
        long boundary = nowMicros * 1000 - lookBack;
        StringJoiner boundaries = new StringJoiner(",");
        while (boundary <= nowMicros * 1000 + lookBack) {
            boundary = calendar.windowEnd(boundary);
            boundaries.add(Long.toString(boundary / 1000));
        }
        return boundaries.toString();
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
