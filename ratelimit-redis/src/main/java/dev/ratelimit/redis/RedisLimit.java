package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.IntervalTokenBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A limit as the scripts know it: how it is written for them, and what the numbers of their answer mean. Times are
 * microseconds of the server's clock. Immutable.
 */
abstract sealed class RedisLimit permits RedisTokenBucket, RedisWindow, RedisSlidingLog {

    /** Lua's numbers are doubles; below this, sums of two are still exact. */
    static final long MOST = 1L << 51;

    private static final long[] NONE = {};

    private final Limit limit;
    private final Script.Algorithm algorithm;
    private final long[] parameters;
    private final byte[] notation;

    /**
     * The limit with the three parameters of its algorithm, the first of which is what a full budget is.
     *
     * @param calendar what its windows follow, if that cannot be told by numbers; else empty
     */
    RedisLimit(Limit limit, Script.Algorithm algorithm, long capacity, long second, long third, String calendar) {
        this.limit = limit;
        this.algorithm = algorithm;
        this.parameters = new long[] {capacity, second, third};
        String text = algorithm.letter() + ";" + capacity + ";" + second + ";" + third + ";" + calendar + ";";
        this.notation = text.getBytes(StandardCharsets.US_ASCII);
    }

    /** The limit in core. */
    final Limit limit() {
        return limit;
    }

    final Script.Algorithm algorithm() {
        return algorithm;
    }

    /** Before the state in a value, so that a value tells which limit wrote it. Not to be changed. */
    final byte[] notation() {
        return notation;
    }

    /** The permits and the parameters, as the script reads them. */
    final byte[] numbers(long permits, long nowMicros) {
        long[] boundaries = boundaries(nowMicros);
        ByteBuffer numbers = ByteBuffer.allocate((1 + parameters.length + boundaries.length) * Double.BYTES);
        // one more than the capacity is as impossible as any
        numbers.putDouble((double) Math.min(permits, limit.capacity() + 1));
        for (long parameter : parameters) {
            numbers.putDouble((double) parameter);
        }
        for (long boundary : boundaries) {
            numbers.putDouble((double) boundary);
        }
        return numbers.array();
    }

    /** Of windows that follow a calendar, where they begin and end around this time. */
    long[] boundaries(long nowMicros) {
        return NONE;
    }

    /** How many numbers of the answer are this limit's. */
    abstract int answers();

    /** The permits that would be admitted. */
    abstract long remaining(long[] answer, int at, long now);

    /** The least time until so many permits, at most the capacity, would be admitted; 0 if they would be now. */
    abstract long retryAfter(long[] answer, int at, long permits, long now);

    /** The least time until nothing is charged any more. */
    abstract long fullAfter(long[] answer, int at, long now);

    /**
     * The limit, for the scripts.
     *
     * @throws IllegalArgumentException when Redis cannot keep it exactly; the message says why
     */
    static RedisLimit of(Limit limit) {
        if (limit.capacity() > MOST || limit.replenishNanos() / 1000 > MOST) {
            throw new IllegalArgumentException(
                    limit + " is too large for Redis, which counts to " + MOST + " permits, and as many microseconds");
        }
        if (limit instanceof TokenBucket bucket) {
            return RedisTokenBucket.of(bucket);
        }
        if (limit instanceof SlidingLog log) {
            return RedisSlidingLog.of(log);
        }
        if (limit instanceof FixedWindow window) {
            return RedisWindow.of(window);
        }
        if (limit instanceof SlidingWindow window) {
            return RedisWindow.of(window);
        }
        if (limit instanceof IntervalTokenBucket bucket) {
            return RedisWindow.of(bucket);
        }
        throw new IllegalArgumentException(limit.getClass().getName() + " has no script for Redis");
    }

    /** How the limit stands after this answer. */
    final LimitStatus status(Charge charge, boolean admitted, long[] answer, int at, long now) {
        long remaining = remaining(answer, at, now);
        long next = remaining >= limit.capacity() ? 0 : retryAfter(answer, at, remaining + 1, now);
        return new LimitStatus(
                charge.policy(),
                limit,
                remaining,
                admitted ? 0 : wait(charge.permits(), answer, at, now),
                next * 1000,
                fullAfter(answer, at, now) * 1000);
    }

    private long wait(long permits, long[] answer, int at, long now) {
        return permits > limit.capacity() ? Limit.NEVER : retryAfter(answer, at, permits, now) * 1000;
    }

    /** The period of a limit whose windows are whole microseconds. */
    static long periodMicros(Limit limit) {
        long nanos = limit.rate().periodNanos();
        if (nanos % 1000 != 0) {
            throw new IllegalArgumentException(
                    limit + ": on Redis, whose clock counts microseconds, a period must be a whole number of them");
        }
        return nanos / 1000;
    }

    /** {@code a / b}, rounded up, for {@code a >= 0}. */
    static long ceilDiv(long a, long b) {
        return -Math.floorDiv(-a, b);
    }
}
