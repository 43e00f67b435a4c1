package dev.ratelimit.redis;

import dev.ratelimit.algorithm.TokenBucket;
import java.math.BigInteger;

/**
 * {@code token-bucket.lua}. A permit takes a whole number of ticks, as in {@link TokenBucket}; if a full bucket would
 * then exceed the maximum number of ticks, ticks are coarser, and a permit is rounded up.
 */
final class RedisTokenBucket extends RedisLimit {

    private static final BigInteger RATE_ERROR_OF = BigInteger.valueOf(1_000_000_000);

    private final long full;
    private final long ticksPerMicro;
    private final long ticksPerPermit;

    private RedisTokenBucket(TokenBucket limit, long ticksPerMicro, long ticksPerPermit) {
        super(
                limit,
                Script.Algorithm.TOKEN_BUCKET,
                limit.capacity() * ticksPerPermit,
                ticksPerMicro,
                ticksPerPermit,
                "");
        this.full = limit.capacity() * ticksPerPermit;
        this.ticksPerMicro = ticksPerMicro;
        this.ticksPerPermit = ticksPerPermit;
    }

    static RedisTokenBucket of(TokenBucket limit) {
        BigInteger period = BigInteger.valueOf(limit.rate().periodNanos());
        BigInteger permits = BigInteger.valueOf(limit.rate().permits()).multiply(BigInteger.valueOf(1000));
        BigInteger common = period.gcd(permits);
        BigInteger permit = period.divide(common);
        BigInteger micro = permits.divide(common);
        BigInteger maxPerPermit = BigInteger.valueOf(MAX / limit.capacity());
        if (permit.max(micro).compareTo(maxPerPermit) > 0) {
            micro = maxPerPermit.multiply(permits).divide(period.add(permits)).max(BigInteger.ONE);
            BigInteger exact = period.multiply(micro);
            permit = exact.add(permits).subtract(BigInteger.ONE).divide(permits);
            BigInteger error = permit.multiply(permits).subtract(exact);
            if (permit.compareTo(maxPerPermit) > 0
                    || error.multiply(RATE_ERROR_OF).compareTo(exact) >= 0) {
                throw new IllegalArgumentException(
                        limit
                                + " cannot be represented on Redis: 51-bit numbers are too few for a rate accurate to 1 in 10^9");
            }
        }
        return new RedisTokenBucket(limit, micro.longValueExact(), permit.longValueExact());
    }

    @Override
    int numbers() {
        return 1;
    }

    @Override
    long remaining(long[] reply, int at, long now) {
        return (full - reply[at]) / ticksPerPermit;
    }

    @Override
    long retryAfter(long[] reply, int at, long permits, long now) {
        return ceilDiv(Math.max(0, reply[at] + permits * ticksPerPermit - full), ticksPerMicro);
    }

    @Override
    long fullAfter(long[] reply, int at, long now) {
        return ceilDiv(reply[at], ticksPerMicro);
    }
}
