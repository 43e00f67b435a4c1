package dev.ratelimit.redis;

import dev.ratelimit.Penalty;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** {@code penalty.lua}: it answers with the end of the penalty, then as the limit inside. */
final class RedisPenalty extends RedisLimit {

    private final RedisLimit inside;

    private RedisPenalty(Penalty limit, RedisLimit inside, String signature) {
        super(limit, inside, signature);
        this.inside = inside;
    }

    static RedisPenalty of(Penalty limit) {
        long nanos = limit.duration().toNanos();
        if (nanos % 1000 != 0) {
            throw new IllegalArgumentException(
                    "on Redis a penalty must be a whole number of microseconds but was " + limit.duration());
        }
        RedisLimit inside = RedisLimits.of(limit.limit());
        String signature = new String(inside.signature(), StandardCharsets.US_ASCII);
        return new RedisPenalty(
                limit,
                inside,
                signature.substring(0, 1).toUpperCase(Locale.ROOT)
                        + signature.substring(1, signature.length() - 1)
                        + "!" + nanos / 1000 + ";");
    }

    @Override
    boolean hasPenalty() {
        return true;
    }

    @Override
    long[] boundaries(long nowMicros) {
        return inside.boundaries(nowMicros);
    }

    @Override
    int numbers() {
        return 1 + inside.numbers();
    }

    @Override
    long remaining(long[] reply, int at, long now) {
        return left(reply, at, now) > 0 ? 0 : inside.remaining(reply, at + 1, now);
    }

    @Override
    long retryAfter(long[] reply, int at, long permits, long now) {
        long wait = inside.retryAfter(reply, at + 1, permits, now);
        return permits == 0 ? wait : Math.max(left(reply, at, now), wait);
    }

    @Override
    long fullAfter(long[] reply, int at, long now) {
        return Math.max(left(reply, at, now), inside.fullAfter(reply, at + 1, now));
    }

    /** The rest of the penalty. */
    private static long left(long[] reply, int at, long now) {
        return Math.max(0, reply[at] - now);
    }
}
