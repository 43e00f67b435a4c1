package dev.ratelimit.benchmarks;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import io.github.bucket4j.Bucket;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** Limiters of a single budget, known in advance. */
public enum HotContender {
    /** One reading of the clock and one compare-and-swap, with no other variable in the cache line. */
    FLOOR(rate -> {
        Gcra gcra = new Gcra(rate);
        int middle = 32;
        AtomicLongArray arrivals = new AtomicLongArray(2 * middle);
        arrivals.set(middle, System.nanoTime());
        return () -> gcra.tryAcquire(arrivals, middle, System.nanoTime());
    }),
    /** This library, in memory, with one budget for all. */
    OURS(rate -> {
        RateLimiter limiter = new RateLimiter(InMemoryStore.create());
        Charge charge = Policy.of("hot", TokenBucket.of(rate)).charge();
        return () -> limiter.tryAcquire(charge);
    }),
    /** This library, in memory, with the budget of a key. */
    OURS_BY_KEY(rate -> {
        RateLimiter limiter = new RateLimiter(InMemoryStore.create());
        Charge charge = Policy.of("hot", TokenBucket.of(rate)).charge("user-000042");
        return () -> limiter.tryAcquire(charge);
    }),
    /** This library with a full decision: the remaining permits, and the waits. */
    OURS_IN_FULL(rate -> {
        RateLimiter limiter = new RateLimiter(InMemoryStore.create());
        Charge charge = Policy.of("hot", TokenBucket.of(rate)).charge();
        return () -> limiter.decide(charge).admitted();
    }),
    /** The same with the budget of a key. */
    OURS_BY_KEY_IN_FULL(rate -> {
        RateLimiter limiter = new RateLimiter(InMemoryStore.create());
        Charge charge = Policy.of("hot", TokenBucket.of(rate)).charge("user-000042");
        return () -> limiter.decide(charge).admitted();
    }),
    /** Bucket4j, lock-free. */
    BUCKET4J(rate -> {
        Bucket bucket = Bucket4j.bucket(rate);
        return () -> bucket.tryConsume(1);
    }),
    /** Resilience4j's limiter. */
    RESILIENCE4J(Resilience4j::one),
    /** Guava's limiter. */
    GUAVA(Guava::one);

    private final Function<Rate, BooleanSupplier> opening;

    HotContender(Function<Rate, BooleanSupplier> opening) {
        this.opening = opening;
    }

    BooleanSupplier open(Rate rate) {
        return opening.apply(rate);
    }
}
