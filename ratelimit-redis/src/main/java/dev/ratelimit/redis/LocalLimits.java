package dev.ratelimit.redis;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.IntervalTokenBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.math.BigDecimal;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** An instance's share of the limits that all instances have together. Thread-safe. */
final class LocalLimits {

    /**
     * A policy's share.
     *
     * @param policy as answers name it, never the same object as the whole policy
     * @param single the limits one by one, each a policy for the store in memory, since each begins with its own use
     */
    record Share(Policy policy, List<Policy> single) {}

    private static final int MOST_POLICIES = 10_000;

    private final BigDecimal share;
    private final Map<String, Integer> numbers = new ConcurrentHashMap<>();
    private final AtomicInteger lastNumber = new AtomicInteger();
    private final Map<Policy, Share> shares = new ConcurrentHashMap<>();

    /**
     * Shares of this size.
     *
     * @param share above 0, at most 1
     */
    LocalLimits(double share) {
        if (!(share > 0 && share <= 1)) {
            throw new IllegalArgumentException("local share must be above 0 and at most 1 but was " + share);
        }
        this.share = BigDecimal.valueOf(share);
    }

    /** The share of this policy. */
    Share of(Policy policy) {
        Share known = shares.get(policy);
        if (known != null) {
            return known;
        }
        if (shares.size() >= MOST_POLICIES) {
            shares.clear();
        }
        return shares.computeIfAbsent(policy, this::make);
    }

    private Share make(Policy policy) {
        List<Limit> limits = policy.limits().stream().map(this::of).toList();
        int number = numbers.computeIfAbsent(policy.name(), name -> lastNumber.incrementAndGet());
        List<Policy> single = IntStream.range(0, limits.size())
                .mapToObj(i -> Policy.of(number + "." + i, limits.get(i)))
                .toList();
        return new Share(new Policy(policy.name(), limits), single);
    }

    /** The same limit with a share of its permits, rounded down, but at least 1. */
    Limit of(Limit limit) {
        Rate rate = new Rate(of(limit.rate().permits()), limit.rate().period());
        if (limit instanceof TokenBucket) {
            return TokenBucket.of(rate, of(limit.capacity()));
        }
        if (limit instanceof IntervalTokenBucket) {
            return TokenBucket.of(rate, of(limit.capacity()), TokenBucket.Refill.INTERVAL);
        }
        if (limit instanceof SlidingWindow sliding) {
            return SlidingWindow.of(rate, sliding.rounding());
        }
        if (limit instanceof SlidingLog) {
            return SlidingLog.of(rate);
        }
        FixedWindow fixed = (FixedWindow) limit;
        return fixed.wallClock()
                ? FixedWindow.onClock(rate, Objects.requireNonNullElse(fixed.zone(), ZoneOffset.UTC))
                : FixedWindow.of(rate);
    }

    private long of(long permits) {
        return Math.max(1, share.multiply(BigDecimal.valueOf(permits)).longValue());
    }
}
