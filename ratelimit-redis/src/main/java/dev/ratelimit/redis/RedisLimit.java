package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A limit as the scripts see it: its encoding for them, and the meaning of the numbers in their replies. Times are in
 * microseconds of the server's clock. Immutable.
 */
abstract class RedisLimit {

    /** Lua numbers are doubles; up to this value, the sum of two is still exact. */
    static final long MAX = 1L << 51;

    private static final long[] NONE = {};

    private final LimitAlgorithm limit;
    private final Script.Algorithm algorithm;
    private final long[] parameters;
    private final byte[] signature;

    /**
     * Creates a limit with the three parameters of its algorithm; the first is the capacity in the algorithm's unit.
     *
     * @param calendar the calendar that its windows follow, or empty if numbers describe the windows
     */
    RedisLimit(
            LimitAlgorithm limit, Script.Algorithm algorithm, long capacity, long second, long third, String calendar) {
        this.limit = limit;
        this.algorithm = algorithm;
        this.parameters = new long[] {capacity, second, third};
        String text = algorithm.letter() + ";" + capacity + ";" + second + ";" + third + ";" + calendar + ";";
        this.signature = text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Creates a limit with the same parameters around another one. */
    RedisLimit(LimitAlgorithm limit, RedisLimit inside, String signature) {
        this.limit = limit;
        this.algorithm = inside.algorithm;
        this.parameters = inside.parameters;
        this.signature = signature.getBytes(StandardCharsets.US_ASCII);
    }

    /** Whether it is the limit of an algorithm with a penalty around it. */
    boolean hasPenalty() {
        return false;
    }

    /** The limit in ratelimit-core. */
    final LimitAlgorithm limit() {
        return limit;
    }

    final Script.Algorithm algorithm() {
        return algorithm;
    }

    /** Precedes the state in a value, to identify the limit that wrote it. Callers must not modify the array. */
    final byte[] signature() {
        return signature;
    }

    /** Whether each permit is kept with a number that identifies its charge, so that a refund returns exactly these. */
    final boolean identifiesPermits() {
        return algorithm == Script.Algorithm.CONCURRENCY;
    }

    /**
     * The permits and the parameters, as the script reads them.
     *
     * @param id identifies the permits, if this limit {@linkplain #identifiesPermits() identifies} any
     */
    final byte[] numbers(long permits, long id, long nowMicros) {
        long[] more = identifiesPermits() ? new long[] {id} : boundaries(nowMicros);
        ByteBuffer numbers = ByteBuffer.allocate((1 + parameters.length + more.length) * Double.BYTES);
        // anything above the capacity is equally impossible
        numbers.putDouble((double) Math.min(permits, limit.capacity() + 1));
        for (long parameter : parameters) {
            numbers.putDouble((double) parameter);
        }
        for (long number : more) {
            numbers.putDouble((double) number);
        }
        return numbers.array();
    }

    /** For windows that follow a calendar, their boundaries around this time. */
    long[] boundaries(long nowMicros) {
        return NONE;
    }

    /** How many numbers of the reply belong to this limit. */
    abstract int numbers();

    /** The maximum number of permits that would be admitted now. */
    abstract long remaining(long[] reply, int at, long now);

    /** The time until this many permits, at most the capacity, would be admitted; 0 if they would be now. */
    abstract long retryAfter(long[] reply, int at, long permits, long now);

    /** The time until the full capacity is available again. */
    abstract long fullAfter(long[] reply, int at, long now);

    /** The limit's status after this reply. */
    final LimitStatus status(Charge charge, boolean admitted, long[] reply, int at, long now) {
        long remaining = remaining(reply, at, now);
        long next = remaining >= limit.capacity() ? 0 : retryAfter(reply, at, remaining + 1, now);
        return new LimitStatus(
                charge,
                limit,
                remaining,
                admitted ? 0 : wait(charge.permits(), reply, at, now),
                next * 1000,
                fullAfter(reply, at, now) * 1000);
    }

    private long wait(long permits, long[] reply, int at, long now) {
        return permits > limit.capacity() ? LimitAlgorithm.NEVER : retryAfter(reply, at, permits, now) * 1000;
    }

    /** The period of a limit whose windows are whole microseconds. */
    static long periodMicros(Limit limit) {
        long nanos = limit.rate().periodNanos();
        if (nanos % 1000 != 0) {
            throw new IllegalArgumentException(limit + ": on Redis a period must be a whole number of microseconds");
        }
        return nanos / 1000;
    }

    /** {@code a / b}, rounded up, for {@code a >= 0}. */
    static long ceilDiv(long a, long b) {
        return -Math.floorDiv(-a, b);
    }
}
