package dev.ratelimit.redis;

import dev.ratelimit.Limit;
import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.IntervalTokenBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.TemporalAmount;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Limits of all kinds that Redis supports, from one permit per microsecond to 2^51 permits in 71 years. */
final class RandomLimits {

    private static final int BITS = 51;
    private static final ZoneId[] ZONES = {
        ZoneOffset.UTC, ZoneId.of("Europe/Berlin"), ZoneId.of("America/New_York"), ZoneId.of("Asia/Kathmandu")
    };

    private final Random random;

    RandomLimits(Random random) {
        this.random = random;
    }

    /** A number from 1 to 2^bits; each order of magnitude is equally likely. */
    long number(int bits) {
        int size = random.nextInt(bits + 1);
        return Math.min(1L << bits, (1L << size) + (random.nextLong() & ((1L << size) - 1)));
    }

    /** Any limit. */
    Limit any() {
        Limit limit = null;
        while (limit == null) {
            limit = kept(random.nextInt(9), random.nextInt(3) == 0 ? BITS : 12);
        }
        return limit;
    }

    /** A policy with the first of these limits and those of its kind, with or without a penalty. */
    Policy policy(String name, List<Limit> all) {
        List<Limit> limits = all.stream()
                .filter(limit -> limit.concurrency() == all.get(0).concurrency())
                .toList();
        Policy policy = new Policy(name, limits);
        return random.nextInt(3) > 0 || limits.get(0).concurrency()
                ? policy
                : policy.withPenalty(Duration.ofNanos(1000 * number(random.nextBoolean() ? 44 : 24)));
    }

    /** The limits of a policy without its penalty. */
    static List<Limit> limitsOf(Policy policy) {
        return policy.limits().stream()
                .map(limit -> limit instanceof Penalty penalty ? penalty.limit() : limit)
                .toList();
    }

    /** The longest period or penalty of a policy. */
    static long longestNanos(Policy policy) {
        return policy.limits().stream()
                .mapToLong(limit -> limit instanceof Penalty penalty
                        ? Math.max(penalty.duration().toNanos(), limit.replenishNanos())
                        : limit.replenishNanos())
                .max()
                .orElseThrow();
    }

    /** A token bucket whose ticks are rounded on Redis, but not in core. */
    Limit coarse() {
        Limit limit = null;
        while (limit == null || ticksAreExact(limit) || !exactInCore(limit)) {
            limit = kept(0, BITS);
        }
        return limit;
    }

    private @Nullable Limit kept(int kind, int bits) {
        try {
            Limit limit = limit(kind, bits);
            RedisStore.check(limit);
            return limit;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private Limit limit(int kind, int bits) {
        Rate rate = Rate.of(number(bits), Duration.ofNanos(1000 * number(random.nextBoolean() ? BITS : 24)));
        return switch (kind) {
            case 0 -> TokenBucket.of(Rate.of(rate.permits(), Duration.ofNanos(number(61))), number(bits));
            case 1 -> TokenBucket.of(rate, number(bits), TokenBucket.Refill.INTERVAL);
            case 2 -> FixedWindow.of(rate);
            case 3 -> FixedWindow.onClock(rate, ZoneOffset.UTC);
            case 4 ->
                FixedWindow.onClock(
                        Rate.of(number(bits), Duration.ofDays(number(random.nextBoolean() ? 4 : 14))),
                        ZONES[random.nextInt(ZONES.length)]);
            case 5 ->
                FixedWindow.onClock(new Rate(number(bits), Period.ofMonths(1)), ZONES[random.nextInt(ZONES.length)]);
            case 6 ->
                SlidingWindow.of(
                        rate, random.nextBoolean() ? SlidingWindow.Rounding.EXACT : SlidingWindow.Rounding.FLOOR);
            case 7 -> SlidingLog.of(Rate.of(number(random.nextInt(10) == 0 ? 13 : 5), (Duration) rate.period()));
            default -> Concurrency.of(number(random.nextInt(10) == 0 ? 13 : 5), (Duration) rate.period());
        };
    }

    /** A successor of this limit: of any kind, or the same with more or fewer permits, or in another period. */
    Limit successorOf(Limit limit) {
        Limit other = null;
        while (other == null) {
            try {
                other = random.nextInt(3) == 0 ? any() : resized(limit);
                RedisStore.check(other);
            } catch (IllegalArgumentException e) {
                other = null;
            }
        }
        return other;
    }

    private Limit resized(Limit limit) {
        boolean grows = random.nextBoolean();
        long factor = number(6);
        Rate rate = new Rate(resized(limit.rate().permits(), factor, grows), period(limit.rate()));
        if (limit instanceof TokenBucket) {
            return TokenBucket.of(rate, resized(limit.capacity(), factor, grows));
        }
        if (limit instanceof IntervalTokenBucket) {
            return TokenBucket.of(rate, resized(limit.capacity(), factor, grows), TokenBucket.Refill.INTERVAL);
        }
        if (limit instanceof SlidingWindow window) {
            return SlidingWindow.of(rate, window.rounding());
        }
        if (limit instanceof SlidingLog) {
            return SlidingLog.of(rate);
        }
        if (limit instanceof Concurrency concurrency) {
            return Concurrency.of(rate.permits(), concurrency.maxHold());
        }
        FixedWindow window = (FixedWindow) limit;
        return window.wallClock()
                ? FixedWindow.onClock(rate, Objects.requireNonNullElse(window.zone(), ZoneOffset.UTC))
                : FixedWindow.of(rate);
    }

    private TemporalAmount period(Rate rate) {
        if (rate.perMonth() || random.nextInt(3) > 0) {
            return rate.period();
        }
        Duration period = (Duration) rate.period();
        long factor = number(6);
        return random.nextBoolean()
                ? period.multipliedBy(factor)
                : Duration.ofNanos(Math.max(1, period.toNanos() / 1000 / factor) * 1000);
    }

    private long resized(long permits, long factor, boolean grows) {
        if (grows) {
            long fits = Math.min(permits, Long.MAX_VALUE / factor - 1);
            return fits * (random.nextInt(4) == 0 ? 1 : factor) + (random.nextInt(4) == 0 ? 1 : 0);
        }
        return Math.max(1, permits / factor);
    }

    private static boolean exactInCore(Limit limit) {
        BigInteger period = BigInteger.valueOf(limit.rate().periodNanos());
        BigInteger permit =
                period.divide(period.gcd(BigInteger.valueOf(limit.rate().permits())));
        return permit.compareTo(BigInteger.valueOf((1L << 61) / limit.capacity())) <= 0;
    }

    /** Whether the scripts count this token bucket exactly, as all other limits. */
    static boolean ticksAreExact(Limit limit) {
        if (!(limit instanceof TokenBucket)) {
            return true;
        }
        BigInteger period = BigInteger.valueOf(limit.rate().periodNanos());
        BigInteger permits = BigInteger.valueOf(limit.rate().permits()).multiply(BigInteger.valueOf(1000));
        BigInteger most = BigInteger.valueOf((1L << BITS) / limit.capacity());
        return period.max(permits).divide(period.gcd(permits)).compareTo(most) <= 0;
    }
}
