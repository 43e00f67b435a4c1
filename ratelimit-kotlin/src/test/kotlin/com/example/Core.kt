package com.example

import dev.ratelimit.Policy
import dev.ratelimit.Rate
import dev.ratelimit.RateLimiter
import dev.ratelimit.algorithm.SlidingLog
import dev.ratelimit.algorithm.TokenBucket
import dev.ratelimit.memory.InMemoryStore

val search = Policy.of("search", TokenBucket.of(Rate.parse("10/second"), 20), SlidingLog.of(Rate.parse("1000/hour")))

fun answer(limiter: RateLimiter, user: String): String {
    val decision = limiter.decide(search.charge(user))
    if (decision.admitted()) {
        return "${decision.limits().first().remaining()} left"
    }
    val wait = decision.retryAfter() ?: return "never" // more than the limit ever admits
    return "again in ${wait.toMillis()} ms"
}

fun settle(limiter: RateLimiter, user: String, work: () -> Long): Boolean {
    val reservation = limiter.reserve(search.charge(user, 5))
    return reservation.admitted() && reservation.settle(work())
}

fun newLimiter() = RateLimiter(InMemoryStore.builder().maxKeys(10_000).build())
