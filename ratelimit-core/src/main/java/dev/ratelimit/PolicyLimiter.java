package dev.ratelimit;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A {@link RateLimiter} for the keys of one policy: {@code limiter.forPolicy(mail).tryAcquire("alice")}. Thread-safe
 * and stateless.
 */
public final class PolicyLimiter {

    private final RateLimiter limiter;
    private final Policy policy;

    PolicyLimiter(RateLimiter limiter, Policy policy) {
        this.limiter = limiter;
        this.policy = policy;
    }

    /** Tries to take one permit of this key's budget. */
    public boolean tryAcquire(String key) {
        return limiter.tryAcquire(policy, key);
    }

    /**
     * Tries to take permits of this key's budget.
     *
     * @throws IllegalArgumentException if {@code permits} is negative
     */
    public boolean tryAcquire(String key, long permits) {
        return limiter.tryAcquire(policy, key, permits);
    }

    /** Tries to take one permit, and returns the status of each limit. */
    public Decision decide(String key) {
        return limiter.decide(policy.charge(key));
    }

    /** Tries to take permits, and returns the status of each limit. */
    public Decision decide(String key, long permits) {
        return limiter.decide(policy.charge(key, permits));
    }

    /** Tries to take permits that can later be settled at another cost. */
    public Reservation reserve(String key, long permits) {
        return limiter.reserve(policy.charge(key, permits));
    }

    /** Waits for permits; see {@link RateLimiter#acquire}. */
    public Reservation acquire(Duration maxWait, String key, long permits) throws InterruptedException {
        return limiter.acquire(maxWait, policy.charge(key, permits));
    }

    /** Waits for permits without blocking a thread; see {@link RateLimiter#acquireAsync}. */
    public CompletableFuture<Reservation> acquireAsync(Duration maxWait, String key, long permits) {
        return limiter.acquireAsync(maxWait, policy.charge(key, permits));
    }

    /** Resets the key to a full budget. */
    public void reset(String key) {
        limiter.reset(policy, key);
    }
}
