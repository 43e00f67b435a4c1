package dev.ratelimit.benchmarks;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.common.util.concurrent.RateLimiter;
import dev.ratelimit.Rate;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** Guava's limiter, which has a rate and holds at most one second's permits. */
@SuppressWarnings("UnstableApiUsage")
final class Guava {

    private Guava() {}

    static BooleanSupplier one(Rate rate) {
        RateLimiter limiter = RateLimiter.create(1e9 * rate.permits() / rate.periodNanos());
        return limiter::tryAcquire;
    }

    /**
     * A limiter for each of this number of keys, plus a fifth, in a Caffeine cache; refilled faster than callers can
     * use it.
     */
    static Predicate<String> byKey(int keys) {
        Cache<String, RateLimiter> limiters =
                Caffeine.newBuilder().maximumSize(keys + keys / 5).build();
        return key -> limiters.get(key, absent -> RateLimiter.create(1e9)).tryAcquire();
    }
}
