package dev.ratelimit.benchmarks;

import dev.ratelimit.Rate;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.ratelimiter.RateLimiterRegistry;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** Resilience4j's limiter, a counter of cycles; refused callers do not wait. */
final class Resilience4j {

    private Resilience4j() {}

    static BooleanSupplier one(Rate rate) {
        RateLimiter limiter = RateLimiter.of("one", config(rate));
        return limiter::acquirePermission;
    }

    /** A limiter for each key in its registry, which keeps all of them. */
    static Predicate<String> byKey(Rate rate) {
        RateLimiterRegistry registry = RateLimiterRegistry.of(config(rate));
        return key -> registry.rateLimiter(key).acquirePermission();
    }

    private static RateLimiterConfig config(Rate rate) {
        return RateLimiterConfig.custom()
                .limitForPeriod(Math.toIntExact(rate.permits()))
                .limitRefreshPeriod(Duration.ofNanos(rate.periodNanos()))
                .timeoutDuration(Duration.ZERO)
                .build();
    }
}
