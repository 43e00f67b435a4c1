package dev.ratelimit.redis;

import dev.ratelimit.algorithm.TokenBucket;
import java.math.BigInteger;

/**
 * {@code token-bucket.lua}. Its ticks are so small that a permit takes a whole number of them, as in {@link TokenBucket};
 * where a full bucket would then be more of them than fit, they are as small as fits, and a permit is rounded up.
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
        BigInteger mostPerPermit = BigInteger.valueOf(MOST / limit.capacity());
        if (permit.max(micro).compareTo(mostPerPermit) > 0) {
            micro = mostPerPermit.multiply(permits).divide(period.add(permits)).max(BigInteger.ONE);
            BigInteger exact = period.multiply(micro);
            permit = exact.add(permits).subtract(BigInteger.ONE).divide(permits);
            BigInteger error = permit.multiply(permits).subtract(exact);
            if (permit.compareTo(mostPerPermit) > 0
                    || error.multiply(RATE_ERROR_OF).compareTo(exact) >= 0) {
                throw new IllegalArgumentException(
                        limit
                                + " cannot be kept on Redis: its numbers have 51 bits, too few for a rate exact to one in 10^9");
            }
        }
        return new RedisTokenBucket(limit, micro.longValueExact(), permit.longValueExact());
    }

    @Override
    int answers() {
        return 1;
    }

    @Override
    long remaining(long[] answer, int at, long now) {
        return (full - answer[at]) / ticksPerPermit;
    }

    @Override
    long retryAfter(long[] answer, int at, long permits, long now) {
        return ceilDiv(Math.max(0, answer[at] + permits * ticksPerPermit - full), ticksPerMicro);
    }

    @Override
    long fullAfter(long[] answer, int at, long now) {
        return ceilDiv(answer[at], ticksPerMicro);
    }
}
