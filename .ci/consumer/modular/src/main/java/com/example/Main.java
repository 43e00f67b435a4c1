package com.example;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;

/** Three calls against two permits. */
public final class Main {

    private Main() {}

    public static void main(String[] args) {
        RateLimiter limiter = new RateLimiter(InMemoryStore.create());
        Policy policy = Policy.of("calls", TokenBucket.of(Rate.parse("2/hour")));
        for (int i = 0; i < 3; i++) {
            System.out.println(limiter.tryAcquire(policy, "alice"));
        }
    }
}
