package dev.ratelimit;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A {@link RateLimiter} for the keys of one policy: {@code limiter.forPolicy(mail).tryAcquire("alice")}. Thread-safe
 * and stateless. Its methods throw {@link StoreUnavailableException} as those of the limiter do.
 */
public final class PolicyLimiter {

    private final RateLimiter limiter;
    private final Policy policy;

    PolicyLimiter(RateLimiter limiter, Policy policy) {
        this.limiter = limiter;
        this.policy = policy;
    }

    /**
     * Takes one permit of this key's budget, or refuses.
     *
     * @param key whose budget; the empty string if all callers share one
     * @return whether the permit was taken
     */
    public boolean tryAcquire(String key) {
        return limiter.tryAcquire(policy, key);
    }

    /**
     * Takes permits of this key's budget, or refuses.
     *
     * @param key whose budget; the empty string if all callers share one
     * @param permits how many, 0 or more; 0 only asks
     * @return whether the permits were taken
     * @throws IllegalArgumentException if {@code permits} is negative
     */
    public boolean tryAcquire(String key, long permits) {
        return limiter.tryAcquire(policy, key, permits);
    }

    /**
     * Takes one permit, or refuses, and returns the status of each limit.
     *
     * @param key whose budget; the empty string if all callers share one
     * @return whether the permit was taken, and the status of the limits afterwards
     */
    public Decision decide(String key) {
        return limiter.decide(policy.charge(key));
    }

    /**
     * Takes permits, or refuses, and returns the status of each limit.
     *
     * @param key whose budget; the empty string if all callers share one
     * @param permits how many, 0 or more; 0 only asks
     * @return whether the permits were taken, and the status of the limits afterwards
     * @throws IllegalArgumentException if {@code permits} is negative
     */
    public Decision decide(String key, long permits) {
        return limiter.decide(policy.charge(key, permits));
    }

    /**
     * Takes permits, or refuses, without blocking the calling thread; see {@link RateLimiter#decideAsync}.
     *
     * @param key whose budget; the empty string if all callers share one
     * @param permits how many, 0 or more; 0 only asks
     * @return whether the permits were taken, and the status of the limits afterwards; completed exceptionally if the
     *     store fails
     * @throws IllegalArgumentException if {@code permits} is negative
     */
    public CompletableFuture<Decision> decideAsync(String key, long permits) {
        return limiter.decideAsync(policy.charge(key, permits));
    }

    /**
     * Takes permits, or refuses, so that they can later be refunded or settled at another cost.
     *
     * @param key whose budget; the empty string if all callers share one
     * @param permits how many, 0 or more; 0 only asks
     * @return what was taken, or a refused reservation
     * @throws IllegalArgumentException if {@code permits} is negative
     */
    public Reservation reserve(String key, long permits) {
        return limiter.reserve(policy.charge(key, permits));
    }

    /**
     * Waits for permits; see {@link RateLimiter#acquire}.
     *
     * @param maxWait zero or more
     * @param key whose budget; the empty string if all callers share one
     * @param permits how many, 0 or more; 0 only asks
     * @return what was taken, or a refused reservation
     * @throws InterruptedException if interrupted while waiting; nothing is then charged
     * @throws IllegalArgumentException if {@code maxWait} or {@code permits} is negative
     */
    public Reservation acquire(Duration maxWait, String key, long permits) throws InterruptedException {
        return limiter.acquire(maxWait, policy.charge(key, permits));
    }

    /**
     * Waits for permits without blocking a thread; see {@link RateLimiter#acquireAsync}.
     *
     * @param maxWait zero or more
     * @param key whose budget; the empty string if all callers share one
     * @param permits how many, 0 or more; 0 only asks
     * @return completed with a reservation, admitted or refused; exceptionally if the store fails
     * @throws IllegalArgumentException if {@code maxWait} or {@code permits} is negative
     */
    public CompletableFuture<Reservation> acquireAsync(Duration maxWait, String key, long permits) {
        return limiter.acquireAsync(maxWait, policy.charge(key, permits));
    }

    /**
     * Resets the key to a full budget.
     *
     * @param key whose budget; the empty string if all callers share one
     * @return whether it is certain that the key was reset; {@code false} if the store's server does not answer
     */
    @CanIgnoreReturnValue
    public boolean reset(String key) {
        return limiter.reset(policy, key);
    }
}
